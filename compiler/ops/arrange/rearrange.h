// Axes split, permuted and put together: what block operators are written with.
#pragma once

#include <vector>

#include "compiler/ops/lowering/expand.h"

namespace baton::ops {

/// Axis i of the result is axis `axes[i]`.
inline Result<TensorId> transposed(ExpandContext& context, TensorId tensor, std::vector<int64_t> axes) {
  ir::Attrs attrs;
  attrs.set("axes", std::move(axes));
  return context.make("transpose", attrs, {tensor});
}

/// Splits axes, permutes what comes of it, and puts axes together.
inline Result<TensorId> rearranged(ExpandContext& context, TensorId tensor, std::vector<DimExpr> split,
                                   std::vector<int64_t> axes, std::vector<DimExpr> joined) {
  BATON_TRY_ASSIGN(const TensorId parts, context.reshape(tensor, std::move(split)));
  BATON_TRY_ASSIGN(const TensorId moved, transposed(context, parts, std::move(axes)));
  return context.reshape(moved, std::move(joined));
}

}  // namespace baton::ops

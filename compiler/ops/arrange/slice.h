// Where the results of strided_slice and split begin, and what strided_set replaces, axis by axis.
#pragma once

#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

/// Element i of the result along an axis is element `begin + i * stride` of the data.
struct SliceAxis {
  DimExpr begin;
  int64_t stride = 1;
  DimExpr extent;  ///< of the result
};
Result<std::vector<SliceAxis>> sliceAxes(const OpCall& call, DimsContext& context);
/// One axis. Without a begin or an end it is that of the axis, in the direction of the stride.
SliceAxis sliceOf(DimsContext& context, const DimExpr& extent, const DimExpr* begin, const DimExpr* end,
                  int64_t stride);
/// The elements of an input, which must be known.
Result<std::vector<int64_t>> givenStrides(const OpCall& call, DimsContext& context, size_t input);
Result<void> checkStride(const OpCall& call, size_t axis, int64_t stride);

/// The parts of a split along its axis.
struct SplitPart {
  DimExpr begin;
  DimExpr extent;
};
Result<std::vector<SplitPart>> splitParts(const OpCall& call, DimsContext& context);

}  // namespace baton::ops

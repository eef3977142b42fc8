// What operators on two broadcast tensors share.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/ops/relations.h"

namespace baton::ops {

/// The greater of both ranks, or nothing while one is not known.
std::optional<int> broadcastRank(const StructureContext& context);

/// Elements of an integer or bool result, from the elements of both operands where one
/// broadcasts. `cannotWrap`: whenever `f` gives an expression, its value lies between those
/// of the operands and 0.
std::optional<std::vector<DimExpr>> combineValues(
    DimsContext& context, const TensorDims& result, bool cannotWrap,
    const std::function<std::optional<DimExpr>(const DimExpr&, const DimExpr&)>& f);

}  // namespace baton::ops

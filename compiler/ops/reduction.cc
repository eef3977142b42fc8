// Operators that reduce some axes of a tensor.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/reduction.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::vector<bool>> reducedAxes(const OpCall& call, int rank) {
  const ReductionAttrs attrs{*call.attrs};
  const std::vector<int64_t>* listed = attrs.axis();
  std::vector<bool> isReduced(static_cast<size_t>(rank), listed == nullptr);
  if (listed == nullptr) return isReduced;
  for (const int64_t axis : *listed) {
    BATON_TRY_ASSIGN(const int normal, normaliseAxis(call, "axis", axis, rank));
    if (isReduced[static_cast<size_t>(normal)])
      return opError(call, fmt::format("axis {} is listed twice", normal));
    isReduced[static_cast<size_t>(normal)] = true;
  }
  if (attrs.exclude()) isReduced.flip();
  return isReduced;
}

Result<std::optional<StructureResult>> reductionStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank) return std::nullopt;
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, *rank));
  if (!dtype) return std::nullopt;
  int resultRank = 0;
  for (const bool reduced : isReduced)
    resultRank += !reduced || ReductionAttrs{*call.attrs}.keepdims() ? 1 : 0;
  return oneResult(*dtype, resultRank);
}

Result<std::vector<TensorDims>> reductionDims(const OpCall& call, DimsContext& context) {
  const auto dims = context.dims(0);
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(dims.size())));
  TensorDims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!isReduced[axis])
      result.extents.push_back(dims[axis]);
    else if (ReductionAttrs{*call.attrs}.keepdims())
      result.extents.push_back(DimExpr::constant(1));
  }
  return std::vector<TensorDims>{std::move(result)};
}

}  // namespace baton::ops

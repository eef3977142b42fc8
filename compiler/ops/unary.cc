// Operators on each element of one tensor.
#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> unaryStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank, context.length(0));
}

Result<std::optional<StructureResult>> predicateStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.provideResultDType(0, DType::Bool));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  return oneResult(DType::Bool, *rank, context.length(0));
}

Result<std::vector<TensorDims>> unaryDims(const OpCall&, DimsContext& context) {
  return std::vector<TensorDims>{{copyDims(context, 0)}};
}

std::optional<std::vector<DimExpr>> copyValues(const OpCall&, DimsContext& context,
                                               const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  if (values == nullptr || valueCount(result) != values->size()) return std::nullopt;
  return *values;
}

}  // namespace baton::ops

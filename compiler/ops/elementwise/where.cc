// where: elements of one of two tensors, chosen by a condition.
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> whereStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireDType(0, DType::Bool));
  BATON_TRY(context.requireSameDType(1, 2));
  BATON_TRY(context.provideResultDTypeOf(0, 1));
  int rank = 0;
  for (size_t i = 0; i < 3; ++i) {
    const std::optional<int> own = context.rank(i);
    if (!own) return std::nullopt;
    rank = std::max(rank, *own);
  }
  const std::optional<DType> dtype = context.dtype(1);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, rank);
}

Result<std::vector<TensorDims>> whereDims(const OpCall& call, DimsContext& context) {
  const size_t inputs[] = {0, 1, 2};
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents, broadcastShapes(call, context, inputs));
  return std::vector<TensorDims>{{std::move(extents)}};
}

std::optional<std::vector<DimExpr>> whereValues(const OpCall&, DimsContext& context,
                                                const TensorDims& result) {
  const std::vector<DimExpr>* condition = context.values(0);
  const std::vector<DimExpr>* a = context.values(1);
  const std::vector<DimExpr>* b = context.values(2);
  const std::optional<size_t> count = valueCount(result);
  if (!count || a == nullptr || b == nullptr) return std::nullopt;
  std::vector<DimExpr> out;
  for (size_t i = 0; i < *count; ++i) {
    const DimExpr& left = (*a)[a->size() == 1 ? 0 : i];
    const DimExpr& right = (*b)[b->size() == 1 ? 0 : i];
    std::optional<int64_t> choice;
    if (condition != nullptr) choice = (*condition)[condition->size() == 1 ? 0 : i].asConstant();
    if (!choice && !(left == right)) return std::nullopt;
    out.push_back(choice.value_or(1) != 0 ? left : right);
  }
  return out;
}

loop::Value whereScalar(const ScalarContext&, std::span<const loop::Value> inputs) {
  return loop::select(inputs[0], inputs[1], inputs[2]);
}
Result<uint64_t> whereReference(const ScalarReferenceCall&, std::span<const uint64_t> inputs) {
  return inputs[0] != 0 ? inputs[1] : inputs[2];
}

}  // namespace baton::ops

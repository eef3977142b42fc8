// Operators on two tensors that broadcast against each other.
#include <functional>

#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// Both ranks, or nothing yet.
std::optional<int> broadcastRank(const StructureContext& context) {
  const std::optional<int> a = context.rank(0);
  const std::optional<int> b = context.rank(1);
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

/// Elements of an integer or bool result, from the elements of both operands where one broadcasts.
/// `cannotWrap`: whenever `f` gives an expression, its value lies between those of the operands and 0.
std::optional<std::vector<DimExpr>> combineValues(
    DimsContext& context, const TensorDims& result, bool cannotWrap,
    const std::function<std::optional<DimExpr>(const DimExpr&, const DimExpr&)>& f) {
  const DType dtype = context.dtype(0);
  const std::vector<DimExpr>* a = context.values(0);
  const std::vector<DimExpr>* b = context.values(1);
  const std::optional<size_t> count = valueCount(result);
  if (!isInteger(dtype) || a == nullptr || b == nullptr || !count) return std::nullopt;
  std::vector<DimExpr> out;
  for (size_t i = 0; i < *count; ++i) {
    const DimExpr& left = (*a)[a->size() == 1 ? 0 : i];
    const DimExpr& right = (*b)[b->size() == 1 ? 0 : i];
    std::optional<DimExpr> value = f(left, right);
    if (!value) return std::nullopt;
    const bool isOperand = *value == left || *value == right;
    if (value->isTooLarge() || (!cannotWrap && !isOperand && !fitsDType(context, *value, dtype)))
      return std::nullopt;
    out.push_back(std::move(*value));
  }
  return out;
}

std::optional<std::vector<DimExpr>> compareValues(DimsContext& context, const TensorDims& result,
                                                  Relation relation) {
  return combineValues(context, result, true,
                       [&](const DimExpr& a, const DimExpr& b) -> std::optional<DimExpr> {
                         const Truth truth = context.decide(a, relation, b);
                         if (truth == Truth::Unknown) return std::nullopt;
                         return DimExpr::constant(truth == Truth::True ? 1 : 0);
                       });
}

bool isPositive(DimsContext& context, const DimExpr& expr) {
  return context.decide(expr, Relation::Gt, DimExpr()) == Truth::True;
}
bool isNonNegative(DimsContext& context, const DimExpr& expr) {
  return context.decide(expr, Relation::Ge, DimExpr()) == Truth::True;
}

}  // namespace

Result<std::optional<StructureResult>> binaryStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = broadcastRank(context);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::optional<StructureResult>> comparisonStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.provideResultDType(0, DType::Bool));
  const std::optional<int> rank = broadcastRank(context);
  if (!rank) return std::nullopt;
  return oneResult(DType::Bool, *rank);
}

Result<std::vector<TensorDims>> broadcastDims(const OpCall& call, DimsContext& context) {
  const size_t inputs[] = {0, 1};
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents, broadcastShapes(call, context, inputs));
  return std::vector<TensorDims>{{std::move(extents)}};
}

std::optional<std::vector<DimExpr>> addValues(const OpCall&, DimsContext& context, const TensorDims& result) {
  return combineValues(context, result, false, [](const DimExpr& a, const DimExpr& b) { return a + b; });
}
std::optional<std::vector<DimExpr>> subtractValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return combineValues(context, result, false, [](const DimExpr& a, const DimExpr& b) { return a - b; });
}
std::optional<std::vector<DimExpr>> multiplyValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return combineValues(context, result, false, [](const DimExpr& a, const DimExpr& b) { return a * b; });
}

namespace {

/// Where neither can be negative, both ways of rounding agree; floor needs only the divisor.
std::optional<std::vector<DimExpr>> divisionValues(DimsContext& context, const TensorDims& result, DimOp op,
                                                   bool isFloor) {
  return combineValues(context, result, true,
                       [&](const DimExpr& a, const DimExpr& b) -> std::optional<DimExpr> {
                         if (!isPositive(context, b) || (!isFloor && !isNonNegative(context, a)))
                           return std::nullopt;
                         return DimExpr::opaque(op, a, b);
                       });
}

}  // namespace

std::optional<std::vector<DimExpr>> truncDivideValues(const OpCall&, DimsContext& context,
                                                      const TensorDims& result) {
  return divisionValues(context, result, DimOp::FloorDiv, false);
}
std::optional<std::vector<DimExpr>> floorDivideValues(const OpCall&, DimsContext& context,
                                                      const TensorDims& result) {
  return divisionValues(context, result, DimOp::FloorDiv, true);
}
std::optional<std::vector<DimExpr>> truncModValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return divisionValues(context, result, DimOp::FloorMod, false);
}
std::optional<std::vector<DimExpr>> floorModValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return divisionValues(context, result, DimOp::FloorMod, true);
}
std::optional<std::vector<DimExpr>> maximumValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  return combineValues(context, result, true, [](const DimExpr& a, const DimExpr& b) { return max(a, b); });
}
std::optional<std::vector<DimExpr>> minimumValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  return combineValues(context, result, true, [](const DimExpr& a, const DimExpr& b) { return min(a, b); });
}
std::optional<std::vector<DimExpr>> equalValues(const OpCall&, DimsContext& context,
                                                const TensorDims& result) {
  return compareValues(context, result, Relation::Eq);
}
std::optional<std::vector<DimExpr>> notEqualValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return compareValues(context, result, Relation::Ne);
}
std::optional<std::vector<DimExpr>> lessValues(const OpCall&, DimsContext& context,
                                               const TensorDims& result) {
  return compareValues(context, result, Relation::Lt);
}
std::optional<std::vector<DimExpr>> lessEqualValues(const OpCall&, DimsContext& context,
                                                    const TensorDims& result) {
  return compareValues(context, result, Relation::Le);
}
std::optional<std::vector<DimExpr>> greaterValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  return compareValues(context, result, Relation::Gt);
}
std::optional<std::vector<DimExpr>> greaterEqualValues(const OpCall&, DimsContext& context,
                                                       const TensorDims& result) {
  return compareValues(context, result, Relation::Ge);
}

}  // namespace baton::ops

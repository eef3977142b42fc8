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

/// Elements of an integer result, from the elements of both operands where one broadcasts.
std::optional<std::vector<DimExpr>> combineValues(
    DimsContext& context, const TensorDims& result,
    const std::function<std::optional<DimExpr>(const DimExpr&, const DimExpr&)>& f) {
  const DType dtype = context.dtype(0);
  const std::vector<DimExpr>* a = context.values(0);
  const std::vector<DimExpr>* b = context.values(1);
  if (!isInteger(dtype) || a == nullptr || b == nullptr) return std::nullopt;
  int64_t count = 1;
  if (result.extents.size() == 1) {
    const std::optional<int64_t> extent = result.extents[0].asConstant();
    if (!extent || *extent > kMaxValueDims) return std::nullopt;
    count = *extent;
  }
  std::vector<DimExpr> out;
  for (int64_t i = 0; i < count; ++i) {
    const DimExpr& left = (*a)[a->size() == 1 ? 0 : static_cast<size_t>(i)];
    const DimExpr& right = (*b)[b->size() == 1 ? 0 : static_cast<size_t>(i)];
    std::optional<DimExpr> value = f(left, right);
    if (!value) return std::nullopt;
    if (!(*value == left) && !(*value == right) && !fitsDType(context, *value, dtype)) return std::nullopt;
    out.push_back(std::move(*value));
  }
  return out;
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
  return combineValues(context, result, [](const DimExpr& a, const DimExpr& b) { return a + b; });
}
std::optional<std::vector<DimExpr>> subtractValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return combineValues(context, result, [](const DimExpr& a, const DimExpr& b) { return a - b; });
}
std::optional<std::vector<DimExpr>> multiplyValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return combineValues(context, result, [](const DimExpr& a, const DimExpr& b) { return a * b; });
}
/// Where neither can be negative, all divisions round alike.
std::optional<std::vector<DimExpr>> divideValues(const OpCall&, DimsContext& context,
                                                 const TensorDims& result) {
  return combineValues(context, result, [&](const DimExpr& a, const DimExpr& b) -> std::optional<DimExpr> {
    if (!isNonNegative(context, a) || !isPositive(context, b)) return std::nullopt;
    return floorDiv(a, b);
  });
}

}  // namespace baton::ops

// Comparisons of two tensors that broadcast against each other.
#include "compiler/ops/declarations.h"
#include "compiler/ops/elementwise/binary.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

using loop::Op;
using loop::Value;

Result<std::optional<StructureResult>> comparisonStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.provideResultDType(0, DType::Bool));
  const std::optional<int> rank = broadcastRank(context);
  if (!rank) return std::nullopt;
  return oneResult(DType::Bool, *rank);
}

namespace {

std::optional<std::vector<DimExpr>> compareValues(DimsContext& context, const TensorDims& result,
                                                  Relation relation) {
  return combineValues(context, result, true,
                       [&](const DimExpr& a, const DimExpr& b) -> std::optional<DimExpr> {
                         const Truth truth = context.decide(a, relation, b);
                         if (truth == Truth::Unknown) return std::nullopt;
                         return DimExpr::constant(truth == Truth::True ? 1 : 0);
                       });
}

Value compare(const ScalarContext& context, std::span<const Value> inputs, Op op) {
  return context.builder.binary(op, widen(inputs[0]), widen(inputs[1]));
}

template <class F>
uint64_t plainCompare(const ScalarReferenceCall& call, std::span<const uint64_t> inputs, F&& f) {
  return computeBinary(call.inputTypes[0], inputs, [&](auto a, auto b) -> bool {
    if constexpr (std::is_arithmetic_v<decltype(a)>)
      return f(a, b);
    else
      return false;
  });
}

}  // namespace

std::optional<std::vector<DimExpr>> equalValues(const OpCall&, DimsContext& context,
                                                const TensorDims& result) {
  return compareValues(context, result, Relation::Eq);
}
Value equalScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return compare(context, inputs, Op::Eq);
}
Result<uint64_t> equalReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainCompare(call, inputs, [](auto a, auto b) { return a == b; });
}

std::optional<std::vector<DimExpr>> notEqualValues(const OpCall&, DimsContext& context,
                                                   const TensorDims& result) {
  return compareValues(context, result, Relation::Ne);
}
Value notEqualScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return compare(context, inputs, Op::Ne);
}
Result<uint64_t> notEqualReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainCompare(call, inputs, [](auto a, auto b) { return a != b; });
}

std::optional<std::vector<DimExpr>> lessValues(const OpCall&, DimsContext& context,
                                               const TensorDims& result) {
  return compareValues(context, result, Relation::Lt);
}
Value lessScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return compare(context, inputs, Op::Lt);
}
Result<uint64_t> lessReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainCompare(call, inputs, [](auto a, auto b) { return a < b; });
}

std::optional<std::vector<DimExpr>> lessEqualValues(const OpCall&, DimsContext& context,
                                                    const TensorDims& result) {
  return compareValues(context, result, Relation::Le);
}
Value lessEqualScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return compare(context, inputs, Op::Le);
}
Result<uint64_t> lessEqualReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainCompare(call, inputs, [](auto a, auto b) { return a <= b; });
}

std::optional<std::vector<DimExpr>> greaterValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  return compareValues(context, result, Relation::Gt);
}
Value greaterScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return compare(context, inputs, Op::Gt);
}
Result<uint64_t> greaterReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainCompare(call, inputs, [](auto a, auto b) { return a > b; });
}

std::optional<std::vector<DimExpr>> greaterEqualValues(const OpCall&, DimsContext& context,
                                                       const TensorDims& result) {
  return compareValues(context, result, Relation::Ge);
}
Value greaterEqualScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return compare(context, inputs, Op::Ge);
}
Result<uint64_t> greaterEqualReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainCompare(call, inputs, [](auto a, auto b) { return a >= b; });
}

}  // namespace baton::ops

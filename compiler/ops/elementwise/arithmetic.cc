// Operators on two tensors that broadcast against each other: sums, products, extremes, bits.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ops/declarations.h"
#include "compiler/ops/elementwise/binary.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

using loop::Op;
using loop::Value;

std::optional<int> broadcastRank(const StructureContext& context) {
  const std::optional<int> a = context.rank(0);
  const std::optional<int> b = context.rank(1);
  if (!a || !b) return std::nullopt;
  return std::max(*a, *b);
}

Result<std::optional<StructureResult>> binaryStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = broadcastRank(context);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> broadcastDims(const OpCall& call, DimsContext& context) {
  const size_t inputs[] = {0, 1};
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents, broadcastShapes(call, context, inputs));
  return std::vector<TensorDims>{{std::move(extents)}};
}

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

std::optional<std::vector<DimExpr>> maximumValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  return combineValues(context, result, true, [](const DimExpr& a, const DimExpr& b) { return max(a, b); });
}

std::optional<std::vector<DimExpr>> minimumValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  return combineValues(context, result, true, [](const DimExpr& a, const DimExpr& b) { return min(a, b); });
}

namespace {

/// `op` on numbers, `boolOp` on bools.
Value arithmetic(const ScalarContext& context, std::span<const Value> inputs, Op op, Op boolOp) {
  if (context.resultType == DType::Bool) return context.builder.binary(boolOp, inputs[0], inputs[1]);
  return computeWide(context, inputs,
                     [&](std::span<const Value> in) { return context.builder.binary(op, in[0], in[1]); });
}

Value onBits(const ScalarContext& context, std::span<const Value> inputs, Op op) {
  return context.builder.binary(op, inputs[0], inputs[1]);
}

/// Arithmetic of unsigned numbers as wide as T, but not promoted to int.
template <class T, class F>
T wrapping(T a, T b, F&& f) {
  using Unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  return static_cast<T>(f(static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
}

/// `f` on numbers and `boolF` on bools; integers wrap.
template <class F, class BoolF>
uint64_t plainArithmetic(const ScalarReferenceCall& call, std::span<const uint64_t> inputs, F&& f,
                         BoolF&& boolF) {
  return computeBinary(call.resultType, inputs, [&](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_same_v<T, bool>)
      return boolF(a, b);
    else if constexpr (std::is_floating_point_v<T>)
      return f(a, b);
    else if constexpr (std::is_integral_v<T>)
      return wrapping(a, b, f);
    else
      return a;
  });
}

template <class F>
uint64_t plainBits(const ScalarReferenceCall& call, std::span<const uint64_t> inputs, F&& f) {
  return computeBinary(call.resultType, inputs, [&](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(f(a, b));
    else
      return a;
  });
}

const auto kOr = [](bool a, bool b) { return a || b; };
const auto kAnd = [](bool a, bool b) { return a && b; };

/// The greater for sign 1, the lesser for -1.
template <class T>
T extreme(T a, T b, int sign) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == 0 && b == 0) return std::signbit(a) == (sign > 0) ? b : a;
  }
  return (sign > 0) == (a < b) ? b : a;
}

uint64_t extremeReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs, int sign) {
  return computeBinary(call.resultType, inputs, [&](auto a, auto b) {
    if constexpr (std::is_arithmetic_v<decltype(a)>)
      return extreme(a, b, sign);
    else
      return a;
  });
}

}  // namespace

Value addScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return arithmetic(context, inputs, Op::Add, Op::Or);
}
Result<uint64_t> addReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainArithmetic(call, inputs, [](auto a, auto b) { return a + b; }, kOr);
}

Value subtractScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return arithmetic(context, inputs, Op::Sub, Op::Xor);
}
Result<uint64_t> subtractReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainArithmetic(call, inputs, [](auto a, auto b) { return a - b; }, kOr);
}

Value multiplyScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return arithmetic(context, inputs, Op::Mul, Op::And);
}
Result<uint64_t> multiplyReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainArithmetic(call, inputs, [](auto a, auto b) { return a * b; }, kAnd);
}

Value maximumScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return arithmetic(context, inputs, Op::Max, Op::Or);
}
Result<uint64_t> maximumReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return extremeReference(call, inputs, 1);
}

Value minimumScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return arithmetic(context, inputs, Op::Min, Op::And);
}
Result<uint64_t> minimumReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return extremeReference(call, inputs, -1);
}

Value bitwiseAndScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onBits(context, inputs, Op::And);
}
Result<uint64_t> bitwiseAndReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainBits(call, inputs, [](auto a, auto b) { return a & b; });
}

Value bitwiseOrScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onBits(context, inputs, Op::Or);
}
Result<uint64_t> bitwiseOrReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainBits(call, inputs, [](auto a, auto b) { return a | b; });
}

Value bitwiseXorScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onBits(context, inputs, Op::Xor);
}
Result<uint64_t> bitwiseXorReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainBits(call, inputs, [](auto a, auto b) { return a ^ b; });
}

Value leftShiftScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onBits(context, inputs, Op::Shl);
}
Result<uint64_t> leftShiftReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainBits(call, inputs, [](auto a, auto b) {
    constexpr int kWidth = 8 * sizeof(a);
    if (b < decltype(b){} || static_cast<uint64_t>(b) >= kWidth) return decltype(a){};
    return static_cast<decltype(a)>(static_cast<uint64_t>(a) << static_cast<unsigned>(b));
  });
}

Value rightShiftScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onBits(context, inputs, Op::Shr);
}
Result<uint64_t> rightShiftReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainBits(call, inputs, [](auto a, auto b) {
    constexpr int kWidth = 8 * sizeof(a);
    if (b < decltype(b){} || static_cast<uint64_t>(b) >= kWidth)
      return static_cast<decltype(a)>(a < decltype(a){} ? -1 : 0);
    return static_cast<decltype(a)>(a >> static_cast<unsigned>(b));
  });
}

}  // namespace baton::ops

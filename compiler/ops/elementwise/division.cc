// Quotients and remainders of two tensors that broadcast against each other.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/elementwise/binary.h"
#include "compiler/ops/elementwise/remainder.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

using loop::Op;
using loop::Value;

namespace {

bool isPositive(DimsContext& context, const DimExpr& expr) {
  return context.decide(expr, Relation::Gt, DimExpr()) == Truth::True;
}
bool isNonNegative(DimsContext& context, const DimExpr& expr) {
  return context.decide(expr, Relation::Ge, DimExpr()) == Truth::True;
}

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

std::string divisionMessage(const OpCall& call) {
  return fmt::format("{}: the divisor is zero, or the least value is divided by -1", call.op->name);
}

/// `op` on integers, `onFloats` on floats.
template <class F>
Value divideScalars(const ScalarContext& context, std::span<const Value> inputs, Op op, F&& onFloats) {
  if (isFloat(context.resultType))
    return computeWide(context, inputs, [&](std::span<const Value> in) { return onFloats(in[0], in[1]); });
  return context.builder.divide(op, inputs[0], inputs[1],
                                context.builder.message(divisionMessage(context.call)));
}

/// `onIntegers` on int64 or uint64 operands of which the quotient exists; `onFloats` on floats.
template <class I, class F>
Result<uint64_t> plainDivide(const ScalarReferenceCall& call, std::span<const uint64_t> inputs,
                             I&& onIntegers, F&& onFloats) {
  bool isDefined = true;
  const uint64_t result = computeBinary(call.resultType, inputs, [&](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(onFloats(a, b));
    } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      isDefined = b != 0;
      if constexpr (std::is_signed_v<T>) isDefined &= b != -1 || a != std::numeric_limits<T>::min();
      return isDefined ? static_cast<T>(onIntegers(a, b)) : T{};
    } else {
      return a;
    }
  });
  if (!isDefined) return Error(ErrorCode::ProgramError, divisionMessage(call.call));
  return result;
}

const auto kFloorQuotient = [](auto a, auto b) {
  const auto quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
};
const auto kFloorRemainder = [](auto a, auto b) {
  const auto remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
};
const auto kFloatFloorRemainder = [](auto a, auto b) {
  const auto remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(remainder, b);
  return (remainder < 0) != (b < 0) ? remainder + b : remainder;
};

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

Value divideScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return divideScalars(context, inputs, Op::TruncDiv, [](Value a, Value b) { return a / b; });
}
Result<uint64_t> divideReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainDivide(
      call, inputs, [](auto a, auto b) { return a / b; }, [](auto a, auto b) { return a / b; });
}

Value truncDivideScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return divideScalars(context, inputs, Op::TruncDiv, [](Value a, Value b) { return loop::trunc(a / b); });
}
Result<uint64_t> truncDivideReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainDivide(
      call, inputs, [](auto a, auto b) { return a / b; }, [](auto a, auto b) { return std::trunc(a / b); });
}

Value floorDivideScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return divideScalars(context, inputs, Op::FloorDiv, [](Value a, Value b) { return loop::floor(a / b); });
}
Result<uint64_t> floorDivideReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainDivide(call, inputs, kFloorQuotient, [](auto a, auto b) { return std::floor(a / b); });
}

Value truncModScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return divideScalars(context, inputs, Op::TruncMod, [](Value a, Value b) { return floatRemainder(a, b); });
}
Result<uint64_t> truncModReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainDivide(
      call, inputs, [](auto a, auto b) { return a % b; }, [](auto a, auto b) { return std::fmod(a, b); });
}

Value floorModScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return divideScalars(context, inputs, Op::FloorMod, [](Value a, Value b) {
    const Value remainder = floatRemainder(a, b);
    const Value zero = a.builder().constant(a.type(), 0.0);
    const Value differs = (remainder < zero) ^ (b < zero);
    const Value moved = loop::select(differs, remainder + b, remainder);
    return loop::select(loop::equal(remainder, zero), a.builder().binary(Op::CopySign, remainder, b), moved);
  });
}
Result<uint64_t> floorModReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plainDivide(call, inputs, kFloorRemainder, kFloatFloorRemainder);
}

}  // namespace baton::ops

// The transcendental functions as loop IR: what builder.h declares.
#include "base/error.h"
#include "kernels/loop/builder.h"
#include "kernels/loop/math/transcendental.h"
#include "kernels/loop/math/wide.h"

namespace baton::loop {

namespace {

template <class FormatT>
struct Expression {
  using F = Value;
  using U = Value;
  using B = Value;
  using Format = FormatT;
  static constexpr bool kIsNarrow = Format::kMantissaBits == 23;
  static constexpr int kWidth = kIsNarrow ? 32 : 64;
  static constexpr DType kFloat = kIsNarrow ? DType::F32 : DType::F64;
  static constexpr DType kUnsigned = kIsNarrow ? DType::U32 : DType::U64;
  static constexpr DType kSigned = kIsNarrow ? DType::I32 : DType::I64;

  Builder& b;

  F number(double value) const { return b.constant(kFloat, value); }
  U integer(uint64_t value) const { return b.constantBits(kUnsigned, value); }
  F fma(F x, F y, F z) const { return b.fma(x, y, z); }
  F abs(F x) const { return b.unary(Op::Abs, x); }
  F sqrt(F x) const { return b.unary(Op::Sqrt, x); }
  F copySign(F magnitude, F sign) const { return b.binary(Op::CopySign, magnitude, sign); }
  B isNan(F x) const { return b.binary(Op::Ne, x, x); }
  F select(B condition, F x, F y) const { return b.select(condition, x, y); }
  U bits(F x) const { return b.bitcast(x, kUnsigned); }
  F fromBits(U x) const { return b.bitcast(x, kFloat); }
  F signedToFloat(U x) const { return b.cast(b.bitcast(x, kSigned), kFloat); }
  F trunc(F x) const { return b.unary(Op::Trunc, x); }
  B equal(F x, F y) const { return b.binary(Op::Eq, x, y); }
  U selectInteger(B condition, U x, U y) const { return b.select(condition, x, y); }
  B below(U x, U y) const { return b.binary(Op::Lt, x, y); }
  B equalInteger(U x, U y) const { return b.binary(Op::Eq, x, y); }
  U shiftRight(U x, int count) const { return b.binary(Op::Shr, x, integer(static_cast<uint64_t>(count))); }
  U shiftRightBy(U x, U count) const { return b.binary(Op::Shr, x, count); }
  U shiftLeft(U x, int count) const { return b.binary(Op::Shl, x, integer(static_cast<uint64_t>(count))); }
  U shiftRightSigned(U x, int count) const {
    const Value shifted =
        b.binary(Op::Shr, b.bitcast(x, kSigned), b.constantBits(kSigned, static_cast<uint64_t>(count)));
    return b.bitcast(shifted, kUnsigned);
  }
};

/// `f` with the arithmetic for the type of `a`.
template <class Function>
Value expand(Value a, Function f) {
  if (a.type() == DType::F32) return f(Expression<math::Binary32>{a.builder()}, a);
  BATON_CHECK(a.type() == DType::F64);
  return f(Expression<math::Binary64>{a.builder()}, a);
}

/// `f` in binary64, rounded to the type of the operands.
template <class Function>
Value expandWide(Value a, Function f) {
  BATON_CHECK(isInClass(a.type(), TypeClass::Float));
  return cast(f(Expression<math::Binary64>{a.builder()}, cast(a, DType::F64)), a.type());
}

}  // namespace

Value exp(Value a) {
  return expand(a, [](const auto& arithmetic, Value x) { return math::exp(arithmetic, x); });
}
Value log(Value a) {
  return expand(a, [](const auto& arithmetic, Value x) { return math::log(arithmetic, x); });
}
Value tanh(Value a) {
  return expand(a, [](const auto& arithmetic, Value x) { return math::tanh(arithmetic, x); });
}
Value sigmoid(Value a) {
  return expand(a, [](const auto& arithmetic, Value x) { return math::sigmoid(arithmetic, x); });
}
Value erf(Value a) {
  return expand(a, [](const auto& arithmetic, Value x) { return math::erf(arithmetic, x); });
}
Value rsqrt(Value a) {
  return expand(a, [](const auto& arithmetic, Value x) { return math::rsqrt(arithmetic, x); });
}

Value sin(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::sin(arithmetic, x); });
}
Value cos(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::cos(arithmetic, x); });
}
Value tan(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::tan(arithmetic, x); });
}
Value asin(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::asin(arithmetic, x); });
}
Value acos(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::acos(arithmetic, x); });
}
Value atan(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::atan(arithmetic, x); });
}
Value sinh(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::sinh(arithmetic, x); });
}
Value cosh(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::cosh(arithmetic, x); });
}
Value asinh(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::asinh(arithmetic, x); });
}
Value acosh(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::acosh(arithmetic, x); });
}
Value atanh(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::atanh(arithmetic, x); });
}
Value log2(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::log2(arithmetic, x); });
}
Value log10(Value a) {
  return expandWide(a, [](const auto& arithmetic, Value x) { return math::log10(arithmetic, x); });
}
Value pow(Value a, Value b) {
  BATON_CHECK(a.type() == b.type());
  return expandWide(
      a, [&](const auto& arithmetic, Value x) { return math::pow(arithmetic, x, cast(b, DType::F64)); });
}

}  // namespace baton::loop

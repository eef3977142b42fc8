// The transcendental functions as loop IR: what builder.h declares.
#include "base/error.h"
#include "kernels/loop/builder.h"
#include "kernels/loop/math/transcendental.h"

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

}  // namespace baton::loop

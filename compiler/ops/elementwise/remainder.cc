// Long division in base 2^48: each step takes off a multiple of b times a power of two, which
// fma does exactly, until what is left is less than b.
#include "compiler/ops/elementwise/remainder.h"

#include <limits>

namespace baton::ops {

using loop::Builder;
using loop::Op;
using loop::Value;

namespace {

/// Bits of quotient that a step finds.
constexpr int64_t kStepBits = 48;
constexpr int64_t kBias = 1023;
constexpr int64_t kMantissaBits = 52;

/// Exponent of a positive double, as of 1.xxx; right for denormals, too. Rubbish for others.
Value exponentOf(Builder& b, Value x) {
  // Scaled by 2^100, denormals are normal.
  const Value isSmall = x < b.constant(DType::F64, 0x1p-900);
  const Value scaled = loop::select(isSmall, x * b.constant(DType::F64, 0x1p100), x);
  const Value field = b.binary(Op::Shr, loop::bitcast(scaled, DType::I64), b.i64(kMantissaBits));
  return field - loop::select(isSmall, b.i64(kBias + 100), b.i64(kBias));
}

/// 2^n for 0 <= n <= 1000.
Value powerOfTwo(Builder& b, Value n) {
  return loop::bitcast(b.binary(Op::Shl, n + b.i64(kBias), b.i64(kMantissaBits)), DType::F64);
}

Value remainder64(Value a, Value divisor, int steps) {
  Builder& b = a.builder();
  const Value infinity = b.constant(DType::F64, std::numeric_limits<double>::infinity());
  const Value zero = b.constant(DType::F64, 0.0);
  const Value d = loop::abs(divisor);
  const Value dExponent = exponentOf(b, d);
  const loop::LocalIndex rest = b.local(DType::F64);
  b.set(rest, loop::abs(a));
  b.serial(b.i64(steps), [&](Value) {
    const Value r = b.get(rest);
    const Value distance = exponentOf(b, r) - dExponent - b.i64(kStepBits);
    const Value shift = loop::min(loop::max(distance, b.i64(0)), b.i64(2100));
    // In three factors, none of which overflows; scaling up is exact.
    const Value first = loop::min(shift, b.i64(1000));
    const Value second = loop::min(shift - first, b.i64(1000));
    const Value scaled =
        d * powerOfTwo(b, first) * powerOfTwo(b, second) * powerOfTwo(b, shift - first - second);
    const Value quotient = loop::trunc(r / scaled);
    const Value left = loop::fma(-quotient, scaled, r);
    // The rounded quotient may be too large by one.
    b.set(rest, loop::select(left < zero, left + scaled, left));
  });
  const Value result = b.binary(Op::CopySign, b.get(rest), a);
  const Value isFinite = loop::abs(a) < infinity;
  const Value hasResult = isFinite & (d > zero);  // false for a NaN, too
  const Value whole = loop::select(loop::equal(d, infinity), a, result);
  return loop::select(hasResult, whole, b.constant(DType::F64, std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace

Value floatRemainder(Value a, Value b) {
  // Exponents are at most 2 * 1074 apart for f64, and 277 for f32.
  if (a.type() == DType::F64) return remainder64(a, b, 46);
  return loop::cast(remainder64(loop::cast(a, DType::F64), loop::cast(b, DType::F64), 7), DType::F32);
}

}  // namespace baton::ops

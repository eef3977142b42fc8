// power, of floats and of integers.
#include <type_traits>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

using loop::Value;

namespace {

/// By squares, once for each bit that an exponent has; they fold where it is constant.
Value integerPower(Value base, Value exponent) {
  loop::Builder& b = base.builder();
  const DType type = base.type();
  const Value zero = b.constantBits(type, 0);
  const Value one = b.constantBits(type, 1);
  const int bits = 8 * sizeBytes(type) - (isSignedInt(type) ? 1 : 0);
  Value result = one;
  Value square = base;
  for (int bit = 0; bit < bits; ++bit) {
    const Value shifted = b.binary(loop::Op::Shr, exponent, b.constantBits(type, static_cast<uint64_t>(bit)));
    result = loop::select(loop::notEqual(shifted & one, zero), result * square, result);
    if (bit + 1 < bits) square = square * square;
  }
  if (isUnsignedInt(type)) return result;
  // Of the quotients 1 / a^n only those of 1 and -1 are not below 1.
  const Value isOdd = loop::notEqual(exponent & one, zero);
  const Value minusOne = b.constant(type, -1.0);
  const Value ofMinusOne = loop::select(isOdd, minusOne, one);
  const Value quotient =
      loop::select(loop::equal(base, one), one, loop::select(loop::equal(base, minusOne), ofMinusOne, zero));
  return loop::select(exponent < zero, quotient, result);
}

template <class T>
T plainIntegerPower(T base, T exponent) {
  if (exponent < T{0}) {
    if (base == T{1}) return 1;
    if (base != static_cast<T>(-1)) return 0;
    return exponent % 2 == 0 ? T{1} : base;
  }
  uint64_t result = 1;
  uint64_t factor = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left /= 2) {
    if (left % 2 == 1) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

}  // namespace

Value powerScalar(const ScalarContext& context, std::span<const Value> inputs) {
  if (!isFloat(context.resultType)) return integerPower(inputs[0], inputs[1]);
  return computeWide(context, inputs, [&](std::span<const Value> in) {
    const Value two = context.builder.constant(in[1].type(), 2.0);
    return loop::select(loop::equal(in[1], two), in[0] * in[0], loop::pow(in[0], in[1]));
  });
}
Result<uint64_t> powerReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return computeBinary(call.resultType, inputs, [](auto a, auto b) {
    using T = decltype(a);
    if constexpr (std::is_floating_point_v<T>)
      return b == 2 ? a * a : math::pow(a, b);
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return plainIntegerPower(a, b);
    else
      return a;
  });
}

}  // namespace baton::ops

// What each value operation of loop IR computes, on C++ scalars: used by the interpreter and
// by whoever must agree with kernels bit for bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/dtype.h"

namespace baton::loop {

/// Integers are computed in an unsigned type that is not promoted to int.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T wrapAdd(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
}
template <class T>
T wrapSub(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
}
template <class T>
T wrapMul(T a, T b) {
  return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
}

/// Whether a / b is an error of the program: a zero divisor, or a quotient that does not fit.
template <class T>
bool divisionFails(T a, T b) {
  if (b == 0) return true;
  return std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1);
}
template <class T>
T floorDivide(T a, T b) {
  const T quotient = static_cast<T>(a / b);
  return (a % b != 0 && (a < 0) != (b < 0)) ? static_cast<T>(quotient - 1) : quotient;
}
template <class T>
T floorModulo(T a, T b) {
  const T remainder = static_cast<T>(a % b);
  return (remainder != 0 && (remainder < 0) != (b < 0)) ? static_cast<T>(remainder + b) : remainder;
}

template <class T>
T shiftLeft(T a, T count) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr unsigned kWidth = sizeof(T) * 8;
  if (static_cast<Unsigned>(count) >= kWidth) return 0;
  return static_cast<T>(static_cast<Wrapping<T>>(a) << static_cast<Unsigned>(count));
}
template <class T>
T shiftRight(T a, T count) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr unsigned kWidth = sizeof(T) * 8;
  if (static_cast<Unsigned>(count) >= kWidth) return a < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(a >> static_cast<Unsigned>(count));
}

/// IEEE 754-2019 minimum and maximum; plain order for integers and bool.
template <class T>
T minimum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

/// The sign of a NaN counts as positive.
template <class T>
T copySign(T magnitude, T sign) {
  return std::copysign(magnitude, sign != sign ? T{0} : sign);
}

template <class T>
T absolute(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fabs(a);
  else if constexpr (std::is_signed_v<T>)
    return a < 0 ? wrapSub(T{0}, a) : a;
  else
    return a;
}

/// Halves to even, whatever the rounding mode.
inline float roundEven(float a) { return __builtin_roundevenf(a); }
inline double roundEven(double a) { return __builtin_roundeven(a); }

/// Float to integer: truncates and saturates; NaN gives 0.
template <class To, class From>
To saturate(From value) {
  if (value != value) return 0;
  // Both bounds are powers of two (or zero), hence exact in any float type.
  constexpr int kDigits = std::numeric_limits<To>::digits;
  constexpr From kBeyond = static_cast<From>(uint64_t{1} << (kDigits - 1)) * From{2};
  if (value >= kBeyond) return std::numeric_limits<To>::max();
  if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  return static_cast<To>(value);
}

/// A cast between types that C++ knows (not f16 and bf16: see convertScalar).
template <class To, class From>
To castScalar(From value) {
  if constexpr (std::is_same_v<To, bool>)
    return value != From{0};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturate<To>(value);
  else
    return static_cast<To>(value);
}

/// The bits of a float, of the canonical NaN (positive, quiet, payload zero) for any NaN.
inline uint32_t canonicalBits(float value) {
  return value != value ? 0x7FC00000u : std::bit_cast<uint32_t>(value);
}
inline uint64_t canonicalBits(double value) {
  return value != value ? 0x7FF8000000000000u : std::bit_cast<uint64_t>(value);
}
inline uint16_t canonicalBits(Half value) {
  return (value.bits & 0x7FFF) > 0x7C00 ? uint16_t{0x7E00} : value.bits;
}
inline uint16_t canonicalBits(BFloat16 value) {
  return (value.bits & 0x7FFF) > 0x7F80 ? uint16_t{0x7FC0} : value.bits;
}

}  // namespace baton::loop

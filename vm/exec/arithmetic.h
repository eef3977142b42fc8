// The meaning of scalar operations, type by type: wrap-around integers, one rounding for
// floats, NaN propagating through min and max.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace baton::vm::arithmetic {

template <std::integral T>
constexpr T add(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <std::integral T>
constexpr T sub(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <std::integral T>
constexpr T mul(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <std::integral T>
constexpr T neg(T a) {
  return static_cast<T>(0 - static_cast<uint64_t>(a));
}
template <std::integral T>
constexpr T abs(T a) {
  if constexpr (std::is_signed_v<T>) return a < 0 ? neg(a) : a;
  return a;
}
template <std::integral T>
constexpr T min(T a, T b) {
  return a < b ? a : b;
}
template <std::integral T>
constexpr T max(T a, T b) {
  return a < b ? b : a;
}

template <std::floating_point T>
constexpr T add(T a, T b) {
  return a + b;
}
template <std::floating_point T>
constexpr T sub(T a, T b) {
  return a - b;
}
template <std::floating_point T>
constexpr T mul(T a, T b) {
  return a * b;
}
template <std::floating_point T>
constexpr T neg(T a) {
  return -a;
}
template <std::floating_point T>
T abs(T a) {
  return std::fabs(a);
}
/// IEEE 754-2019 minimum and maximum.
template <std::floating_point T>
T min(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <std::floating_point T>
T max(T a, T b) {
  if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

/// Whether an integer division has no result; its remainder is none either.
template <std::integral T>
constexpr bool divisionFails(T a, T b) {
  if constexpr (std::is_signed_v<T>) return b == 0 || (b == -1 && a == std::numeric_limits<T>::min());
  return b == 0;
}
template <std::integral T>
constexpr T truncDiv(T a, T b) {
  return static_cast<T>(a / b);
}
template <std::integral T>
constexpr T truncMod(T a, T b) {
  return static_cast<T>(a % b);
}
template <std::integral T>
constexpr T floorMod(T a, T b) {
  const T remainder = truncMod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? static_cast<T>(remainder + b) : remainder;
}
template <std::integral T>
constexpr T floorDiv(T a, T b) {
  const T quotient = truncDiv(a, b);
  return a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
}
/// The remainder with the sign of the divisor, zeroes included.
template <std::floating_point T>
T floorMod(T a, T b) {
  T remainder = std::fmod(a, b);
  if (remainder == 0) return std::copysign(remainder, b);
  if ((remainder < 0) != (b < 0)) remainder += b;
  return remainder;
}
template <std::floating_point T>
T truncMod(T a, T b) {
  return std::fmod(a, b);
}

template <std::integral T>
constexpr T shl(T a, T b) {
  constexpr auto kWidth = static_cast<uint64_t>(8 * sizeof(T));
  const auto count = static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(b));
  return count < kWidth ? static_cast<T>(static_cast<uint64_t>(a) << count) : T{0};
}
template <std::integral T>
constexpr T shr(T a, T b) {
  constexpr auto kWidth = static_cast<uint64_t>(8 * sizeof(T));
  const auto count = static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(b));
  return static_cast<T>(a >> std::min(count, kWidth - 1)) &
         (count < kWidth || std::is_signed_v<T> ? T(-1) : T{0});
}

}  // namespace baton::vm::arithmetic

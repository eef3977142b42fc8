// The order of values as the order of unsigned numbers: NaN is above all numbers and equal to
// itself, -0 equals 0.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/dtype.h"

namespace baton::library {

template <class Bits, class Float>
constexpr Bits floatKey(Float value) {
  constexpr Bits kSign = Bits{1} << (std::numeric_limits<Bits>::digits - 1);
  if (std::isnan(value)) return std::numeric_limits<Bits>::max();
  const Bits bits = value == 0 ? Bits{0} : std::bit_cast<Bits>(value);
  return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
}

/// 32 bits for types of at most as many, else 64.
template <class T>
constexpr auto sortKey(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return floatKey<uint32_t>(toFloat(value));
  else if constexpr (std::is_same_v<T, float>)
    return floatKey<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return floatKey<uint64_t>(value);
  else if constexpr (std::is_same_v<T, int64_t>)
    return static_cast<uint64_t>(value) ^ (uint64_t{1} << 63);
  else if constexpr (std::is_same_v<T, uint64_t>)
    return value;
  else if constexpr (std::is_signed_v<T>)
    return static_cast<uint32_t>(static_cast<int32_t>(value)) ^ (uint32_t{1} << 31);
  else
    return static_cast<uint32_t>(value);
}
template <class T>
using SortKey = decltype(sortKey(T{}));

}  // namespace baton::library

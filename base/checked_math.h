// Overflow-checked arithmetic on sizes and extents: the only way in which the two are combined.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>

namespace baton {

template <std::integral T>
constexpr std::optional<T> checkedAdd(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
constexpr std::optional<T> checkedSub(T a, T b) {
  T result;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

template <std::integral T>
constexpr std::optional<T> checkedMul(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

/// Product of extents (1 for rank 0), or nothing when one is negative or it exceeds int64.
/// An extent of zero gives zero whatever the others are.
constexpr std::optional<int64_t> checkedElementCount(std::span<const int64_t> extents) {
  bool empty = false;
  for (int64_t extent : extents) {
    if (extent < 0) return std::nullopt;
    empty |= extent == 0;
  }
  if (empty) return 0;
  int64_t count = 1;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return count;
}

/// `value` rounded up to a multiple of `alignment` (a power of two), or nothing on overflow.
constexpr std::optional<uint64_t> checkedAlignUp(uint64_t value, uint64_t alignment) {
  uint64_t sum;
  if (__builtin_add_overflow(value, alignment - 1, &sum)) return std::nullopt;
  return sum & ~(alignment - 1);
}

}  // namespace baton

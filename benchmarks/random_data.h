// Seeded operands.
#pragma once

#include <cstdint>
#include <random>
#include <span>

namespace baton::benchmarks {

/// Floats in [-range, range): no NaN, no denormal results in what is measured.
inline void fillFloats(std::span<float> values, uint64_t seed, float range = 2) {
  std::mt19937_64 random(seed);
  for (float& value : values)
    value = (static_cast<float>(random() >> 40) / static_cast<float>(1 << 23) - 1) * range;
}

/// Whole numbers in [0, end).
inline void fillIndices(std::span<int32_t> values, uint64_t seed, int64_t end) {
  std::mt19937_64 random(seed);
  for (int32_t& value : values) value = static_cast<int32_t>(random() % static_cast<uint64_t>(end));
}

}  // namespace baton::benchmarks

// Numbers for property tests: a fixed generator, and the values that go wrong.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/compiler/ops/group_program.h"

namespace baton::ops::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }
  /// In [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<size_t>(between(0, static_cast<int64_t>(values.size()) - 1))];
  }

  /// Mostly ordinary numbers; now and then zeros, extremes, infinities and NaN.
  double number(DType dtype) {
    if (dtype == DType::Bool) return static_cast<double>(between(0, 1));
    if (isFloat(dtype)) {
      if (chance(8))
        return pick<double>({0.0, -0.0, 1.0, -1.0, std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(), 1e-40, 65504.0, 3e38, 1e300});
      return std::ldexp(static_cast<double>(between(-1000000, 1000000)), static_cast<int>(between(-22, -16)));
    }
    if (chance(10))
      return pick<double>({0, 1, -1, 127, -128, 255, 2147483647.0, -2147483648.0, -9223372036854775808.0});
    return static_cast<double>(between(-20, 20));
  }
  Tensor tensor(DType dtype, std::vector<int64_t> shape) {
    size_t count = 1;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) values.push_back(number(dtype));
    return tensorOf(dtype, std::move(shape), values);
  }
  /// Integers in a range, for indices.
  Tensor integers(DType dtype, std::vector<int64_t> shape, int64_t low, int64_t high) {
    size_t count = 1;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    std::vector<double> values;
    for (size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(between(low, high)));
    return tensorOf(dtype, std::move(shape), values);
  }
  int64_t extent() { return pick<int64_t>({0, 1, 1, 2, 3, 5, 7, 17, 67}); }
  /// At most a few thousand elements.
  std::vector<int64_t> shape(int least, int most) {
    std::vector<int64_t> out(static_cast<size_t>(between(least, most)));
    int64_t count = 1;
    for (int64_t& value : out) {
      value = extent();
      if (count * value > 3000) value = pick<int64_t>({1, 2});
      count *= std::max<int64_t>(value, 1);
    }
    return out;
  }

 private:
  uint64_t state_;
};

}  // namespace baton::ops::test

// softmax and layer norm, a row at a time.
#pragma once

#include "benchmarks/twins/reduction.h"

namespace {

/// The sum over n elements, of which `at` and `part` compute each once.
template <class At, class Part>
inline float sumInOrder(int64_t n, At at, Part part) {
  const auto block = [&](int64_t start, int64_t length) {
    return blockSum(
        length, [&](int64_t i) { return at(start + i); },
        [&](int64_t i, int64_t count) { return part(start + i, count); });
  };
  if (n <= kBlock) return n == 0 ? 0.0f : block(0, n);
  Blocks blocks;
  for (int64_t i = 0; i < n; i += kBlock) blocks.push(block(i, n - i < kBlock ? n - i : kBlock));
  return blocks.finish();
}

void softmax(void* const* b, const int64_t* extents) {
  const Arithmetic a;
  const int64_t m = extents[1];
  for (int64_t row = 0; row < extents[0]; ++row) {
    const float* const x = input(b, 0) + row * m;
    float* const out = output(b, 1) + row * m;
    const float greatest = maxOf(x, m);
    // A pass each: together they would need more registers than there are.
    chain<2>(m, out, [&](Floats v) { return baton::math::exp(a, v - greatest); }, x);
    const float total = sumOf(out, m);
    chain<4>(m, out, [&](Floats power) { return power / total; }, out);
  }
}

void layerNorm(void* const* b, const int64_t* extents) {
  const int64_t m = extents[1];
  const auto count = static_cast<float>(m);
  for (int64_t row = 0; row < extents[0]; ++row) {
    const float* const x = input(b, 0) + row * m;
    const float mean = sumOf(x, m) / count;
    const float variance = sumInOrder(
                               m,
                               [&](int64_t i) {
                                 const Floats centred = load(x + i) - mean;
                                 return centred * centred;
                               },
                               [&](int64_t i, int64_t left) {
                                 const Floats centred = loadPart(x + i, left) - mean;
                                 return firstLanes(left) != 0 ? centred * centred : Floats(0.0f);
                               }) /
                           count;
    const float factor = 1.0f / __builtin_sqrtf(variance + 1e-5f);
    chain<4>(
        m, output(b, 3) + row * m,
        [&](Floats v, Floats gamma, Floats beta) { return (v - mean) * factor * gamma + beta; }, x,
        input(b, 1), input(b, 2));
  }
}

}  // namespace

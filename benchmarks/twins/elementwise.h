// Fused elementwise chains.
#pragma once

#include "benchmarks/twins/vector.h"

namespace {

/// `f(i)` for whole vectors, four at a time, `part(i, count)` for what is left.
template <int kAtOnce, class F, class Part>
inline void overElements(int64_t n, F f, Part part) {
  int64_t i = 0;
  for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes) {
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) f(i + j * kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) f(i);
  if (i < n) part(i, n - i);
}

/// out[i] = f(inputs[i]...)
template <int kAtOnce, class F, class... Inputs>
inline void chain(int64_t n, float* __restrict out, F f, const Inputs*... in) {
  overElements<kAtOnce>(
      n, [&](int64_t i) { store(out + i, f(load(in + i)...)); },
      [&](int64_t i, int64_t count) { storePart(out + i, f(loadPart(in + i, count)...), count); });
}

inline const float* input(void* const* buffers, int i) { return static_cast<const float*>(buffers[i]); }
inline float* output(void* const* buffers, int i) { return static_cast<float*>(buffers[i]); }

void scaledRelu(void* const* b, const int64_t* extents) {
  chain<4>(
      extents[0], output(b, 3), [](Floats x, Floats y, Floats z) { return aboveZero(x * y + z); },
      input(b, 0), input(b, 1), input(b, 2));
}

void gelu(void* const* b, const int64_t* extents) {
  const Arithmetic a;
  chain<2>(
      extents[0], output(b, 1),
      [&](Floats x) { return x * (0.5f * (1.0f + baton::math::erf(a, x * 0.70710678118654752440f))); },
      input(b, 0));
}

void lstmCell(void* const* b, const int64_t* extents) {
  const Arithmetic a;
  chain<1>(
      extents[0], output(b, 4),
      [&](Floats f, Floats c, Floats i, Floats g) {
        return baton::math::sigmoid(a, f) * c + baton::math::sigmoid(a, i) * baton::math::tanh(a, g);
      },
      input(b, 0), input(b, 1), input(b, 2), input(b, 3));
}

}  // namespace

// Loops that do nothing but what the machine can do at most.
#pragma once

#include "benchmarks/twins/vector.h"

namespace {

inline float anyOf(Floats x) { return __builtin_reduce_max(x); }
inline void keep(Floats& x) {
#ifdef __x86_64__
  asm volatile("" : "+v"(x));
#else
  asm volatile("" : "+w"(x));
#endif
}

constexpr int kChains = kLanes == 16 ? 24 : 12;

float multiplyAdd(uint64_t turns, float nearOne) {
  const Floats factor = splat(nearOne);
  const Floats term = splat(1 - nearOne);
  Floats x[kChains];
#pragma unroll
  for (int i = 0; i < kChains; ++i) x[i] = splat(1.0f + static_cast<float>(i));
  for (uint64_t turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int i = 0; i < kChains; ++i) x[i] = __builtin_elementwise_fma(x[i], factor, term);
  for (int i = 1; i < kChains; ++i) x[0] += x[i];
  return anyOf(x[0]);
}

constexpr int kMixed = 4;  // of each kind

float issue(uint64_t turns, float nearOne) {
  const Floats factor = splat(nearOne);
  Floats products[kMixed];
  Floats sums[kMixed];
  Words words[kMixed];
#pragma unroll
  for (int i = 0; i < kMixed; ++i) {
    products[i] = splat(1.0f + static_cast<float>(i));
    sums[i] = products[i];
    words[i] = __builtin_bit_cast(Words, products[i]);
  }
  Floats term = 0;
  keep(term);
  for (uint64_t turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int i = 0; i < kMixed; ++i) {
      products[i] = __builtin_elementwise_fma(products[i], factor, term);
      sums[i] = sums[i] + term;
#pragma unroll
      for (int twice = 0; twice < 2; ++twice) {
        Floats kept = __builtin_bit_cast(Floats, words[i] ^ __builtin_bit_cast(Words, term));
        keep(kept);
        words[i] = __builtin_bit_cast(Words, kept);
      }
    }
  for (int i = 0; i < kMixed; ++i) term += products[i] + sums[i] + __builtin_bit_cast(Floats, words[i]);
  return anyOf(term);
}

float divide(uint64_t turns, float nearOne) {
  const Floats divisor = splat(nearOne);
  Floats x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) x[i] = splat(1.0f + static_cast<float>(i));
  for (uint64_t turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      keep(x[i]);
      x[i] = x[i] / divisor;
    }
  return anyOf(x[0] + x[1] + x[2] + x[3]);
}

constexpr int kRead = 128 / kLanes;

float read(const float* from, int64_t count) {
  Words x[kRead] = {};
  for (int64_t i = 0; i < count; i += kRead * kLanes)
#pragma unroll
    for (int j = 0; j < kRead; ++j) x[j] |= __builtin_bit_cast(Words, load(from + i + j * kLanes));
  for (int j = 1; j < kRead; ++j) x[0] |= x[j];
  return __builtin_bit_cast(Floats, x[0])[0];
}

void copy(float* __restrict to, const float* __restrict from, int64_t count) {
  for (int64_t i = 0; i < count; i += 8 * kLanes)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      Floats x = load(from + i + j * kLanes);
      keep(x);  // or it becomes a call of memcpy
      store(to + i + j * kLanes, x);
    }
}

void stream(float* __restrict to, const float* __restrict from, int64_t count) {
  for (int64_t i = 0; i < count; i += 8 * kLanes)
#pragma unroll
    for (int j = 0; j < 8; ++j)
      __builtin_nontemporal_store(load(from + i + j * kLanes),
                                  reinterpret_cast<Floats*>(to + i + j * kLanes));
}

}  // namespace

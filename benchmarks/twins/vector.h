// Vectors of one register, and the arithmetic over them that kernels/loop/math wants. Everything is
// local to the file that includes this: each CPU level compiles its own.
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "kernels/loop/math/transcendental.h"

namespace {

constexpr int kLanes = BATON_TWIN_LANES;
using Floats = float __attribute__((ext_vector_type(kLanes)));
using Words = uint32_t __attribute__((ext_vector_type(kLanes)));
using Ints = int32_t __attribute__((ext_vector_type(kLanes)));

inline Floats load(const float* from) {
  Floats x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
inline void store(float* to, Floats x) { __builtin_memcpy(to, &x, sizeof x); }
inline Floats splat(float x) { return Floats(x); }

inline Ints firstLanes(int64_t count) {
  Ints lane;
#pragma unroll
  for (int i = 0; i < kLanes; ++i) lane[i] = i;
  return lane < Ints(static_cast<int32_t>(count));
}

/// The first `count` lanes, 0 in the others.
inline Floats loadPart(const float* from, int64_t count) {
#if defined(__AVX512F__)
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
#elif defined(__AVX2__)
  return _mm256_maskload_ps(from, static_cast<__m256i>(firstLanes(count)));
#else
  Floats x = 0;
  __builtin_memcpy(&x, from, static_cast<size_t>(count) * sizeof(float));
  return x;
#endif
}
inline void storePart(float* to, Floats x, int64_t count) {
#if defined(__AVX512F__)
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), x);
#elif defined(__AVX2__)
  _mm256_maskstore_ps(to, static_cast<__m256i>(firstLanes(count)), x);
#else
  __builtin_memcpy(to, &x, static_cast<size_t>(count) * sizeof(float));
#endif
}

struct Arithmetic {
  using F = Floats;
  using U = Words;
  using B = Ints;
  using Format = baton::math::Binary32;
  static constexpr int kWidth = 32;

  F number(double value) const { return splat(static_cast<float>(value)); }
  U integer(uint64_t value) const { return U(static_cast<uint32_t>(value)); }
  F fma(F x, F y, F z) const { return __builtin_elementwise_fma(x, y, z); }
  F abs(F x) const { return __builtin_elementwise_abs(x); }
  F sqrt(F x) const { return __builtin_elementwise_sqrt(x); }
  F trunc(F x) const { return __builtin_elementwise_trunc(x); }
  // The sign of a NaN is lost in what uses this: NaNs count as equal.
  F copySign(F magnitude, F sign) const { return __builtin_elementwise_copysign(magnitude, sign); }
  B isNan(F x) const { return x != x; }
  F select(B condition, F x, F y) const { return condition ? x : y; }
  U bits(F x) const { return __builtin_bit_cast(U, x); }
  F fromBits(U x) const { return __builtin_bit_cast(F, x); }
  F signedToFloat(U x) const { return __builtin_convertvector(__builtin_bit_cast(Ints, x), F); }
  B equal(F x, F y) const { return x == y; }
  U shiftLeft(U x, int count) const { return x << U(static_cast<uint32_t>(count)); }
  U shiftRight(U x, int count) const { return x >> U(static_cast<uint32_t>(count)); }
  U shiftRightSigned(U x, int count) const {
    return __builtin_bit_cast(U, __builtin_bit_cast(Ints, x) >> Ints(count));
  }
};

/// IEEE 754-2019 maximum of a number or NaN and +0.
inline Floats aboveZero(Floats x) { return !(x <= 0.0f) ? x : Floats(0.0f); }

}  // namespace

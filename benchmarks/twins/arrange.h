// Transposes and gathers.
#pragma once

#include "benchmarks/twins/elementwise.h"

namespace {

using Eight = float __attribute__((ext_vector_type(8)));

/// 8 x 8 elements, in registers.
inline void transposeTile(const float* __restrict from, int64_t fromStride, float* __restrict to,
                          int64_t toStride) {
  Eight r[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) __builtin_memcpy(&r[i], from + i * fromStride, sizeof r[i]);
  Eight pairs[8];
#pragma unroll
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  Eight fours[8];
#pragma unroll
  for (int i = 0; i < 8; i += 4)
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      fours[i + 2 * j] = __builtin_shufflevector(pairs[i + j], pairs[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      fours[i + 2 * j + 1] =
          __builtin_shufflevector(pairs[i + j], pairs[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    r[i] = __builtin_shufflevector(fours[i], fours[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    r[i + 4] = __builtin_shufflevector(fours[i], fours[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) __builtin_memcpy(to + i * toStride, &r[i], sizeof r[i]);
}

void transpose(void* const* b, const int64_t* extents) {
  constexpr int64_t kBlock = 64;  // both sides of a block stay in the first cache
  const int64_t n = extents[0];
  const int64_t m = extents[1];
  const float* __restrict const x = input(b, 0);
  float* __restrict const out = output(b, 1);
  for (int64_t j0 = 0; j0 < m; j0 += kBlock)
    for (int64_t i0 = 0; i0 < n; i0 += kBlock) {
      const int64_t iEnd = i0 + kBlock < n ? i0 + kBlock : n;
      const int64_t jEnd = j0 + kBlock < m ? j0 + kBlock : m;
      int64_t j = j0;
      for (; j + 8 <= jEnd; j += 8) {
        int64_t i = i0;
        for (; i + 8 <= iEnd; i += 8) transposeTile(x + i * m + j, m, out + j * n + i, n);
        for (; i < iEnd; ++i)
          for (int64_t jj = j; jj < j + 8; ++jj) out[jj * n + i] = x[i * m + jj];
      }
      for (; j < jEnd; ++j)
        for (int64_t i = i0; i < iEnd; ++i) out[j * n + i] = x[i * m + j];
    }
}

void take(void* const* b, const int64_t* extents) {
  const int64_t n = extents[0];
  const int64_t m = extents[1];
  const float* const table = input(b, 0);
  const auto* const rows = static_cast<const int32_t*>(b[1]);
  for (int64_t k = 0; k < extents[2]; ++k) {
    const int64_t row = rows[k] < 0 ? 0 : rows[k] >= n ? n - 1 : rows[k];
    chain<4>(m, output(b, 2) + k * m, [](Floats x) { return x; }, table + row * m);
  }
}

}  // namespace

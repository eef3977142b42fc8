// A product with a weight in panels of 64 columns, as nn.dense_packed has it.
#pragma once

#include "benchmarks/twins/elementwise.h"

namespace {

constexpr int64_t kPanel = 64;
constexpr int kTileVectors = kLanes == 8 ? 2 : 64 / kLanes < 4 ? 64 / kLanes : 4;
constexpr int kTileRows = 6;

/// kRows x (kTileVectors vectors): every sum from 0, k upwards, one fma each.
template <int kRows>
inline void gemmTile(const float* x, int64_t stride, const float* panel, int64_t inner, float* out,
                     int64_t outStride) {
  Floats sums[kRows][kTileVectors] = {};
  for (int64_t k = 0; k < inner; ++k) {
    Floats right[kTileVectors];
#pragma unroll
    for (int v = 0; v < kTileVectors; ++v) right[v] = load(panel + k * kPanel + v * kLanes);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Floats left = splat(x[r * stride + k]);
#pragma unroll
      for (int v = 0; v < kTileVectors; ++v)
        sums[r][v] = __builtin_elementwise_fma(left, right[v], sums[r][v]);
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r)
#pragma unroll
    for (int v = 0; v < kTileVectors; ++v) store(out + r * outStride + v * kLanes, sums[r][v]);
}

void packedGemm(void* const* b, const int64_t* extents) {
  const int64_t m = extents[0];
  const int64_t n = extents[1];
  const int64_t inner = extents[2];
  const int64_t blocks = (m + kTileRows - 1) / kTileRows;
  const int64_t base = blocks == 0 ? 0 : m / blocks;
  const int64_t longer = m - base * blocks;
  for (int64_t panel = 0; panel < n / kPanel; ++panel) {
    const float* const right = input(b, 1) + panel * inner * kPanel;
    int64_t row = 0;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t rows = base + (block < longer ? 1 : 0);
      for (int64_t at = 0; at < kPanel; at += kTileVectors * kLanes) {
        const float* const left = input(b, 0) + row * inner;
        float* const out = output(b, 2) + row * n + panel * kPanel + at;
        switch (rows) {
          case 1: gemmTile<1>(left, inner, right + at, inner, out, n); break;
          case 2: gemmTile<2>(left, inner, right + at, inner, out, n); break;
          case 3: gemmTile<3>(left, inner, right + at, inner, out, n); break;
          case 4: gemmTile<4>(left, inner, right + at, inner, out, n); break;
          case 5: gemmTile<5>(left, inner, right + at, inner, out, n); break;
          default: gemmTile<6>(left, inner, right + at, inner, out, n); break;
        }
      }
      row += rows;
    }
  }
}

}  // namespace

// Reductions in the order of the numeric contract.
#pragma once

#include "benchmarks/twins/elementwise.h"
#include "kernels/loop/reduction_order.h"

namespace {

constexpr int64_t kPartials = baton::loop::kReductionPartials;
constexpr int64_t kBlock = baton::loop::kReductionBlock;
constexpr int kRegisters = kPartials / kLanes;

/// p[j] + p[j + half] for half = 32, 16, ..., 1.
inline float foldPartials(Floats (&p)[kRegisters]) {
#pragma unroll
  for (int half = kRegisters / 2; half > 0; half /= 2)
#pragma unroll
    for (int j = 0; j < half; ++j) p[j] += p[j + half];
  float lanes[kLanes];
  store(lanes, p[0]);
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2)
#pragma unroll
    for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
  return lanes[0];
}

/// The sum of one block: `at(i)` gives a vector of elements, `part(i, count)` the first of them and
/// 0 beyond.
template <class At, class Part>
inline float blockSum(int64_t length, At at, Part part) {
  Floats p[kRegisters] = {};
  int64_t i = 0;
  for (; i + kPartials <= length; i += kPartials) {
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) p[j] += at(i + j * kLanes);
  }
  const int64_t left = length - i;
  if (left > 0) {
#pragma unroll
    for (int j = 0; j < kRegisters; ++j) {
      if (left >= (j + 1) * kLanes)
        p[j] += at(i + j * kLanes);
      else if (left > j * kLanes)
        p[j] += part(i + j * kLanes, left - j * kLanes);
    }
  }
  return foldPartials(p);
}

/// Values of blocks, combined like a binary counter.
struct Blocks {
  float levels[baton::loop::kReductionLevels];
  uint64_t count = 0;

  void push(float value) {
    int level = 0;
    for (; (count >> level & 1) != 0; ++level) value = levels[level] + value;
    levels[level] = value;
    ++count;
  }
  float finish() const {
    float result = 0;
    bool any = false;
    for (int level = 0; count >> level != 0; ++level) {
      if ((count >> level & 1) == 0) continue;
      result = any ? levels[level] + result : levels[level];
      any = true;
    }
    return result;
  }
};

inline float sumOf(const float* x, int64_t n) {
  const auto block = [](const float* from, int64_t length) {
    return blockSum(
        length, [&](int64_t i) { return load(from + i); },
        [&](int64_t i, int64_t count) { return loadPart(from + i, count); });
  };
  if (n <= kBlock) return n == 0 ? 0.0f : block(x, n);
  Blocks blocks;
  for (int64_t i = 0; i < n; i += kBlock) blocks.push(block(x + i, n - i < kBlock ? n - i : kBlock));
  return blocks.finish();
}

/// IEEE 754-2019 maximum: NaN wins, and of zeroes +0. Both are looked at once, at the end.
inline float maxOf(const float* x, int64_t n) {
  constexpr int kAtOnce = 4;
  Floats greatest[kAtOnce];
  Words signs[2] = {Words(~0u), Words(~0u)};  // of all elements, anded
  Ints nans[2] = {Ints(0), Ints(0)};
#pragma unroll
  for (int j = 0; j < kAtOnce; ++j) greatest[j] = Floats(-__builtin_inff());
  int64_t i = 0;
  for (; i + kAtOnce * kLanes <= n; i += kAtOnce * kLanes) {
    Floats v[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      v[j] = load(x + i + j * kLanes);
      greatest[j] = v[j] > greatest[j] ? v[j] : greatest[j];
      signs[j / 2] &= __builtin_bit_cast(Words, v[j]);
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; j += 2) nans[j / 2] |= (v[j] != v[j]) | (v[j + 1] != v[j + 1]);
  }
  const auto one = [&](Floats v) {
    greatest[0] = v > greatest[0] ? v : greatest[0];
    signs[0] &= __builtin_bit_cast(Words, v);
    nans[0] |= v != v;
  };
  for (; i + kLanes <= n; i += kLanes) one(load(x + i));
  if (i < n) one(firstLanes(n - i) != 0 ? loadPart(x + i, n - i) : Floats(-__builtin_inff()));
  Floats m = greatest[0];
#pragma unroll
  for (int j = 1; j < kAtOnce; ++j) m = greatest[j] > m ? greatest[j] : m;
  if (__builtin_reduce_or(nans[0] | nans[1]) != 0) return __builtin_nanf("");
  float result = m[0];
#pragma unroll
  for (int lane = 1; lane < kLanes; ++lane) result = m[lane] > result ? m[lane] : result;
  if (result == 0) result = __builtin_reduce_and(signs[0] & signs[1]) >> 31 != 0 ? -0.0f : 0.0f;
  return result;
}

void sum(void* const* b, const int64_t* extents) { *output(b, 1) = sumOf(input(b, 0), extents[0]); }
void max(void* const* b, const int64_t* extents) { *output(b, 1) = maxOf(input(b, 0), extents[0]); }

void rowSums(void* const* b, const int64_t* extents) {
  for (int64_t i = 0; i < extents[0]; ++i) output(b, 1)[i] = sumOf(input(b, 0) + i * extents[1], extents[1]);
}
void rowMaxima(void* const* b, const int64_t* extents) {
  for (int64_t i = 0; i < extents[0]; ++i) output(b, 1)[i] = maxOf(input(b, 0) + i * extents[1], extents[1]);
}

/// Columns next to each other, each with partials of its own.
template <int kVectors, class Load>
inline void sumColumns(int64_t n, float* out, Load at) {
  Floats levels[baton::loop::kReductionLevels][kVectors];
  uint64_t blocks = 0;
  for (int64_t start = 0; start < n; start += kBlock) {
    const int64_t length = n - start < kBlock ? n - start : kBlock;
    Floats p[kPartials][kVectors] = {};
    for (int64_t i = 0; i < length; ++i)
#pragma unroll
      for (int v = 0; v < kVectors; ++v) p[i % kPartials][v] += at(start + i, v);
    for (int64_t half = kPartials / 2; half > 0; half /= 2)
      for (int64_t j = 0; j < half; ++j)
#pragma unroll
        for (int v = 0; v < kVectors; ++v) p[j][v] += p[j + half][v];
    int level = 0;
    for (; (blocks >> level & 1) != 0; ++level)
      for (int v = 0; v < kVectors; ++v) p[0][v] = levels[level][v] + p[0][v];
    for (int v = 0; v < kVectors; ++v) levels[level][v] = p[0][v];
    ++blocks;
  }
  Floats result[kVectors] = {};
  bool any = false;
  for (int level = 0; blocks >> level != 0; ++level) {
    if ((blocks >> level & 1) == 0) continue;
    for (int v = 0; v < kVectors; ++v) result[v] = any ? levels[level][v] + result[v] : levels[level][v];
    any = true;
  }
  for (int v = 0; v < kVectors; ++v) store(out + v * kLanes, result[v]);
}

void columnSums(void* const* b, const int64_t* extents) {
  constexpr int kWide = 4;
  const int64_t n = extents[0];
  const int64_t m = extents[1];
  const float* const x = input(b, 0);
  float* const out = output(b, 1);
  int64_t j = 0;
  for (; j + kWide * kLanes <= m; j += kWide * kLanes)
    sumColumns<kWide>(n, out + j, [&](int64_t i, int v) { return load(x + i * m + j + v * kLanes); });
  for (; j + kLanes <= m; j += kLanes)
    sumColumns<1>(n, out + j, [&](int64_t i, int) { return load(x + i * m + j); });
  if (j < m) {
    float last[kLanes];
    sumColumns<1>(n, last, [&](int64_t i, int) { return loadPart(x + i * m + j, m - j); });
    __builtin_memcpy(out + j, last, static_cast<size_t>(m - j) * sizeof(float));
  }
}

}  // namespace

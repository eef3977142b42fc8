// The same kernels as the compiler's, written by hand with vector types and compiled by clang for
// one CPU level; and the loops that show what the machine can do. Same bits: the same polynomials
// (kernels/loop/math) and the same orders of reduction (docs/semantics.md).
#pragma once

#include <cstdint>

namespace baton::benchmarks {

/// One call: buffers are the inputs, then the outputs; what the extents mean is said below.
using Twin = void (*)(void* const* buffers, const int64_t* extents);

/// All extents are counts of elements, all elements float32 where nothing else is said.
struct Twins {
  const char* level;  ///< as in kernels/abi/cpu_features.h
  int lanes;          ///< floats in a vector register

  // Fused elementwise chains over n elements.
  Twin scaledRelu;  ///< (a, b, c) -> max(a * b + c, 0)
  Twin gelu;        ///< x -> x * (0.5 * (1 + erf(x / sqrt 2)))
  Twin lstmCell;    ///< (f, c, i, g) -> sigmoid(f) * c + sigmoid(i) * tanh(g)
  // Reductions. n elements to one; or each of n rows of m.
  Twin sum;      ///< x[n] -> float
  Twin max;      ///< x[n] -> float
  Twin rowSums;  ///< x[n, m] -> [n]
  Twin rowMaxima;
  Twin columnSums;  ///< x[n, m] -> [m]
  // Arrangement.
  Twin transpose;  ///< x[n, m] -> [m, n]
  Twin take;       ///< (table[n, m], int32 rows[k]) -> [k, m]; rows are clipped into range
  // Rows.
  Twin softmax;    ///< x[n, m]
  Twin layerNorm;  ///< (x[n, m], gamma[m], beta[m]), epsilon 1e-5
  // Products.
  Twin packedGemm;  ///< (x[m, k], panels[n / 64, k, 64]) -> [m, n]; extents m, n, k; n a multiple of 64

  // Limit loops; one turn is `...PerTurn` of something. They return what keeps them alive.
  int64_t multiplyAddsPerTurn;  ///< floats: two operations each
  float (*multiplyAdd)(uint64_t turns, float nearOne);
  int64_t issuesPerTurn;  ///< vector instructions of a mix of products, sums and logic
  float (*issue)(uint64_t turns, float nearOne);
  int64_t divisionsPerTurn;  ///< vector instructions
  float (*divide)(uint64_t turns, float nearOne);
  float (*read)(const float* from, int64_t count);              ///< count: a multiple of 128
  void (*copy)(float* to, const float* from, int64_t count);    ///< count: a multiple of 128
  void (*stream)(float* to, const float* from, int64_t count);  ///< as copy, past the caches; `to` aligned
};

/// For the best level that this machine has; null where there is none (another architecture, no clang).
const Twins* twins();

}  // namespace baton::benchmarks

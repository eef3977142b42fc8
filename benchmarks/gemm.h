// Products with packed weights: ours, the one written by hand, and how much of the peak they reach.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/figure.h"

namespace baton::benchmarks {

/// y[rows, columns] = x[rows, inner] * weight
struct GemmSize {
  int64_t rows;
  int64_t columns;
  int64_t inner;

  double flops() const { return 2.0 * static_cast<double>(rows * columns * inner); }
};

/// Weights that are used in turn, so that none is in a cache when its turn comes again.
inline constexpr int kColdWeights = 64;

/// The one written by hand, on one thread.
Workload gemmTwin(const GemmSize& size, int weights);

std::vector<Figure> gemmFigures(const Settings& settings);

}  // namespace baton::benchmarks

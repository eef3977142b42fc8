// The group `kernels`: kernels alone, called through the binary interface on one thread.
#pragma once

#include <vector>

#include "benchmarks/figure.h"

namespace baton::benchmarks {

std::vector<Figure> kernelFigures(const Settings& settings);

}  // namespace baton::benchmarks

// How long compiling kernels takes, in seconds: the figures of this group that are no ratio.
#pragma once

#include <vector>

#include "benchmarks/figure.h"

namespace baton::benchmarks {

std::vector<Figure> compileFigures(const Settings& settings);

}  // namespace baton::benchmarks

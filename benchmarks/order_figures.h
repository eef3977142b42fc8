// sort and topk of the kernel library, and the algorithms of the standard library that do the same.
#pragma once

#include <vector>

#include "benchmarks/figure.h"

namespace baton::benchmarks {

std::vector<Figure> orderFigures(const Settings& settings);

}  // namespace baton::benchmarks

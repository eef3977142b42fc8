// The group `limits`: how fast the loops of limits.h run, and a product written by hand.
#pragma once

#include <vector>

#include "benchmarks/figure.h"

namespace baton::benchmarks {

std::vector<Figure> limitFigures(const Settings& settings);

}  // namespace baton::benchmarks

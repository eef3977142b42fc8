// B9: what the machine's own work costs, per instruction, call, object and kernel call, in turns of
// a dependent add-and-branch loop.
#pragma once

#include <vector>

#include "benchmarks/figure.h"

namespace baton::benchmarks {

std::vector<Figure> vmFigures(const Settings& settings);

}  // namespace baton::benchmarks

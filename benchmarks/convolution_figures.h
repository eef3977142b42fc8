// Convolutions of ResNet-50, batch 1, with packed weights: part of the FMA peak.
#pragma once

#include <vector>

#include "benchmarks/figure.h"

namespace baton::benchmarks {

std::vector<Figure> convolutionFigures(const Settings& settings);

}  // namespace baton::benchmarks

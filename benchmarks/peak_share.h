// How much of the peak of fused multiply-adds a kernel reaches, on one thread.
#pragma once

#include <optional>
#include <string>

#include "benchmarks/figure.h"
#include "benchmarks/native_kernel.h"

namespace baton::benchmarks {

/// `flops` of one call, two for each multiply-add; `atLeast`: the bar, if there is one.
Row peakShare(std::string id, std::string what, BoundKernel& kernel, double flops,
              std::optional<double> atLeast, const Settings& settings);

}  // namespace baton::benchmarks

// What the machine itself can do: the loops that ratios are taken to.
#pragma once

#include "benchmarks/sampler.h"

namespace baton::benchmarks {

/// One run is one turn of a dependent add-and-branch loop, about one cycle.
Workload addAndBranchLoop();

}  // namespace baton::benchmarks

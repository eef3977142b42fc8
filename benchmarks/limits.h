// What the machine itself can do: the loops that ratios are taken to.
#pragma once

#include "benchmarks/sampler.h"

namespace baton::benchmarks {

/// One run is one turn of a dependent add-and-branch loop, about one cycle.
Workload addAndBranchLoop();

/// Below, one run does what is asked for, in the best way that the machine has. Without twins (twins/twins.h)
/// there are none of these.

/// So many fused multiply-adds of floats, on one thread.
Workload multiplyAddLoop(double count);
/// Reads so many bytes, or writes half of them from the other half, over and over: they are in the level
/// of memory into which they fit.
Workload readLoop(double bytes);
Workload copyLoop(double bytes);
/// Copies past the caches: what the largest sizes are compared with where it is faster.
Workload streamLoop(double bytes);
/// So many vector instructions of a mix, and so many vector divisions.
Workload issueLoop(double count);
Workload divideLoop(double count);

}  // namespace baton::benchmarks

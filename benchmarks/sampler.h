// The one way in which times are taken: a workload is sampled between two samples of a limit
// loop, and what counts is the ratio. The speed of a shared machine drifts by factors within
// minutes; a ratio of neighbours in time does not.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace baton::benchmarks {

/// Something to run: `run(n)` does it n times and returns nothing until it is done.
struct Workload {
  std::string name;
  std::function<void(uint64_t)> run;
};

/// Median and spread of a ratio over the accepted samples.
struct Ratio {
  double median = 0;
  double low = 0;            ///< 10th percentile
  double high = 0;           ///< 90th percentile
  double secondsPerRun = 0;  ///< median time of one run of the workload, for orientation only
  int accepted = 0;
  int discarded = 0;  ///< pairs whose limit moved by more than 5 %
};

enum class Clock {
  Wall,
  Thread,  ///< time that this thread ran: for workloads of one thread, blind to what preempts them
};

struct SamplerOptions {
  Clock clock = Clock::Wall;
  int samples = 21;
  double sampleSeconds = 0.02;  ///< least duration of one sample
  double maxDrift = 0.05;       ///< between the two limit samples around a workload sample
  int maxAttempts = 400;
};

/// Seconds of one run of `workload` per seconds of one run of `limit`.
Ratio sampleRatio(const Workload& workload, const Workload& limit, const SamplerOptions& options = {});

}  // namespace baton::benchmarks

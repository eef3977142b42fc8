// The one way in which times are taken: workloads are sampled in short slices, in turn with a limit
// loop, and what counts is the ratio. The speed of a shared machine drifts by factors within
// minutes; a ratio of neighbours in time does not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace baton::benchmarks {

/// Something to run: `run(n)` does it n times and returns nothing until it is done.
struct Workload {
  std::string name;
  std::function<void(uint64_t)> run;
};

enum class Clock {
  Wall,
  Thread,  ///< time that this thread ran: for workloads of one thread, blind to what preempts them
};

struct SamplerOptions {
  Clock clock = Clock::Wall;
  int samples = 21;
  double sampleSeconds = 0.02;  ///< least duration of one sample, all of its slices together
  double maxDrift = 0.05;       ///< of the limit, between the first and the second half of a round
  int maxAttempts = 400;
  double maxSeconds = 30;  ///< of all attempts together; a machine that never settles ends here
};

/// Seconds of one run, of the limit and of each workload: the median of the slices of the round.
struct Round {
  double limit = 0;
  std::vector<double> workloads;
};

/// In a round, the limit L and workloads A, B have slices L A B, B A L, A B L, L B A, ...: each is sampled
/// as often before as after each other, and a slice that something else disturbs is one of many. A slice
/// begins with a run that is not counted, unless it is long, so that what the slice before has left in the
/// caches is of use to nobody. Rounds whose limit moved are thrown away and taken again, within the bounds
/// of the options.
struct Rounds {
  std::vector<Round> accepted;
  int discarded = 0;
  int wanted = 0;

  /// Whether there are as many as were wanted.
  bool hasSettled() const { return static_cast<int>(accepted.size()) >= wanted; }
};
Rounds sampleRounds(std::span<const Workload> workloads, const Workload& limit,
                    const SamplerOptions& options = {});

/// Median and spread of what each round gives.
struct Spread {
  double median = 0;
  double low = 0;   ///< 10th percentile
  double high = 0;  ///< 90th percentile
};
/// Nothing without accepted rounds.
std::optional<Spread> spreadOf(const Rounds& rounds, const std::function<double(const Round&)>& figure);

/// The value at a fraction of the sorted ones; `values` has one at least.
double percentile(std::vector<double> values, double fraction);

/// Seconds of one run, roughly: the fastest of a few samples.
double roughSeconds(const Workload& workload, const SamplerOptions& options);

}  // namespace baton::benchmarks

// The one way in which times are taken: workloads are sampled between two samples of a limit
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
  double sampleSeconds = 0.02;  ///< least duration of one sample
  double maxDrift = 0.05;       ///< between the two limit samples around the workloads'
  int maxAttempts = 400;
  double maxSeconds = 30;  ///< of all attempts together; a machine that never settles ends here
};

/// Seconds of one run, of the limit (the mean of the samples around) and of each workload in turn.
struct Round {
  double limit = 0;
  std::vector<double> workloads;
};

/// Rounds L A B L B A L ...: those whose limit moved are thrown away and taken again, within the
/// bounds of the options.
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

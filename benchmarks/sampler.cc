#include "benchmarks/sampler.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace baton::benchmarks {

namespace {

double now(Clock clock) {
  timespec time;
  clock_gettime(clock == Clock::Wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds(const Workload& workload, uint64_t runs, Clock clock) {
  const double start = now(clock);
  workload.run(runs);
  return now(clock) - start;
}

/// How many runs fill one sample; also warms the workload up.
uint64_t runsPerSample(const Workload& workload, const SamplerOptions& options) {
  uint64_t runs = 1;
  for (;;) {
    const double took = seconds(workload, runs, options.clock);
    if (took >= options.sampleSeconds) return runs;
    const double factor = took > 0 ? 1.2 * options.sampleSeconds / took : 10;
    runs = static_cast<uint64_t>(std::ceil(static_cast<double>(runs) * std::clamp(factor, 1.5, 10.0)));
  }
}

}  // namespace

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5)];
}

double roughSeconds(const Workload& workload, const SamplerOptions& options) {
  const uint64_t runs = runsPerSample(workload, options);
  double least = seconds(workload, runs, options.clock);
  for (int i = 0; i < 2; ++i) least = std::min(least, seconds(workload, runs, options.clock));
  return least / static_cast<double>(runs);
}

Rounds sampleRounds(std::span<const Workload> workloads, const Workload& limit,
                    const SamplerOptions& options) {
  const auto perRun = [](double took, uint64_t runs) { return took / static_cast<double>(runs); };
  Rounds rounds{.wanted = options.samples};
  const double deadline = now(Clock::Wall) + options.maxSeconds;
  const uint64_t limitRuns = runsPerSample(limit, options);
  std::vector<uint64_t> runs;
  for (const Workload& workload : workloads) runs.push_back(runsPerSample(workload, options));
  double before = seconds(limit, limitRuns, options.clock);
  for (int attempt = 0; attempt < options.maxAttempts && !rounds.hasSettled(); ++attempt) {
    if (attempt > 0 && now(Clock::Wall) > deadline) break;
    Round round;
    round.workloads.resize(workloads.size());
    for (size_t step = 0; step < workloads.size(); ++step) {
      // Each is the first in turn: what the limit loop leaves in the caches is of use to nobody.
      const size_t i = (step + static_cast<size_t>(attempt)) % workloads.size();
      round.workloads[i] = perRun(seconds(workloads[i], runs[i], options.clock), runs[i]);
    }
    const double after = seconds(limit, limitRuns, options.clock);
    round.limit = perRun(0.5 * (before + after), limitRuns);
    if (std::fabs(after - before) <= options.maxDrift * std::min(before, after))
      rounds.accepted.push_back(std::move(round));
    else
      ++rounds.discarded;
    before = after;
  }
  return rounds;
}

std::optional<Spread> spreadOf(const Rounds& rounds, const std::function<double(const Round&)>& figure) {
  if (rounds.accepted.empty()) return std::nullopt;
  std::vector<double> values;
  for (const Round& round : rounds.accepted) values.push_back(figure(round));
  return Spread{percentile(values, 0.5), percentile(values, 0.1), percentile(values, 0.9)};
}

}  // namespace baton::benchmarks

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

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

Ratio sampleRatio(const Workload& workload, const Workload& limit, const SamplerOptions& options) {
  const uint64_t limitRuns = runsPerSample(limit, options);
  const uint64_t workloadRuns = runsPerSample(workload, options);
  std::vector<double> ratios;
  std::vector<double> times;
  Ratio result;
  double before = seconds(limit, limitRuns, options.clock);
  for (int attempt = 0; attempt < options.maxAttempts && static_cast<int>(ratios.size()) < options.samples;
       ++attempt) {
    const double took = seconds(workload, workloadRuns, options.clock);
    const double after = seconds(limit, limitRuns, options.clock);
    if (std::fabs(after - before) <= options.maxDrift * std::min(before, after)) {
      const double perRun = took / static_cast<double>(workloadRuns);
      ratios.push_back(perRun / (0.5 * (before + after) / static_cast<double>(limitRuns)));
      times.push_back(perRun);
    } else {
      ++result.discarded;
    }
    before = after;
  }
  result.accepted = static_cast<int>(ratios.size());
  if (ratios.empty()) return result;
  result.median = percentile(ratios, 0.5);
  result.low = percentile(ratios, 0.1);
  result.high = percentile(ratios, 0.9);
  result.secondsPerRun = percentile(times, 0.5);
  return result;
}

}  // namespace baton::benchmarks

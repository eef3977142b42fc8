#include "benchmarks/sampler.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace baton::benchmarks {

namespace {

double seconds(const Workload& workload, uint64_t runs) {
  const auto start = std::chrono::steady_clock::now();
  workload.run(runs);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// How many runs fill one sample; also warms the workload up.
uint64_t runsPerSample(const Workload& workload, double sampleSeconds) {
  uint64_t runs = 1;
  for (;;) {
    const double took = seconds(workload, runs);
    if (took >= sampleSeconds) return runs;
    const double factor = took > 0 ? 1.2 * sampleSeconds / took : 10;
    runs = static_cast<uint64_t>(std::ceil(static_cast<double>(runs) * std::clamp(factor, 1.5, 10.0)));
  }
}

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

Ratio sampleRatio(const Workload& workload, const Workload& limit, const SamplerOptions& options) {
  const uint64_t limitRuns = runsPerSample(limit, options.sampleSeconds);
  const uint64_t workloadRuns = runsPerSample(workload, options.sampleSeconds);
  std::vector<double> ratios;
  std::vector<double> times;
  Ratio result;
  double before = seconds(limit, limitRuns);
  for (int attempt = 0; attempt < options.maxAttempts && static_cast<int>(ratios.size()) < options.samples;
       ++attempt) {
    const double took = seconds(workload, workloadRuns);
    const double after = seconds(limit, limitRuns);
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

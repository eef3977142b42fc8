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

/// How many runs fill so many seconds; also warms the workload up.
uint64_t runsFor(const Workload& workload, double wanted, Clock clock) {
  uint64_t runs = 1;
  for (;;) {
    const double took = seconds(workload, runs, clock);
    if (took >= wanted) return runs;
    const double factor = took > 0 ? 1.2 * wanted / took : 10;
    runs = static_cast<uint64_t>(std::ceil(static_cast<double>(runs) * std::clamp(factor, 1.5, 10.0)));
  }
}

/// A slice is at least so long: then neither the clock nor the first runs matter.
constexpr double kSliceSeconds = 2.5e-4;
constexpr int kMostSlices = 32;

/// A workload and how it is sampled.
struct Sampled {
  const Workload* workload;
  uint64_t runs = 1;         ///< of a slice
  std::vector<double> took;  ///< seconds of one run, in each slice of the round

  void slice(Clock clock, bool warmsUp) {
    if (warmsUp) workload->run(1);
    took.push_back(seconds(*workload, runs, clock) / static_cast<double>(runs));
  }
};

double medianOf(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[half] : 0.5 * (sorted[half - 1] + sorted[half]);
}

/// How many slices a sample has: an even number, for each order there is the opposite one.
int slicesOf(const SamplerOptions& options, double longestRun) {
  const double shortest = std::max(2 * longestRun, kSliceSeconds);
  return std::clamp(static_cast<int>(options.sampleSeconds / shortest) / 2, 1, kMostSlices / 2) * 2;
}

}  // namespace

double percentile(std::vector<double> values, double fraction) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5)];
}

double roughSeconds(const Workload& workload, const SamplerOptions& options) {
  const uint64_t runs = runsFor(workload, options.sampleSeconds, options.clock);
  double least = seconds(workload, runs, options.clock);
  for (int i = 0; i < 2; ++i) least = std::min(least, seconds(workload, runs, options.clock));
  return least / static_cast<double>(runs);
}

Rounds sampleRounds(std::span<const Workload> workloads, const Workload& limit,
                    const SamplerOptions& options) {
  Rounds rounds{.wanted = options.samples};
  const double deadline = now(Clock::Wall) + options.maxSeconds;
  std::vector<Sampled> all;  // the limit is the last
  for (const Workload& workload : workloads) all.push_back({&workload, 1, {}});
  all.push_back({&limit, 1, {}});
  double longestRun = 0;
  for (const Sampled& each : all) {
    each.workload->run(1);
    longestRun = std::max(longestRun, seconds(*each.workload, 1, options.clock));
  }
  const int slices = slicesOf(options, longestRun);
  // Runs as long as a sample go through more than the caches hold, or do not mind.
  const bool warmsUp = longestRun < options.sampleSeconds / 2;
  for (Sampled& each : all)
    each.runs = runsFor(*each.workload, options.sampleSeconds / slices, options.clock);
  for (int attempt = 0; attempt < options.maxAttempts && !rounds.hasSettled(); ++attempt) {
    if (attempt > 0 && now(Clock::Wall) > deadline) break;
    for (Sampled& each : all) each.took.clear();
    for (int slice = 0; slice < slices; ++slice)
      for (size_t step = 0; step < all.size(); ++step) {
        const size_t first = static_cast<size_t>(attempt + slice / 2);
        const size_t i = (first + step) % all.size();
        all[slice % 2 == 0 ? i : all.size() - 1 - i].slice(options.clock, warmsUp);
      }
    Round round;
    for (const Sampled& each : all) round.workloads.push_back(medianOf(each.took));
    round.limit = round.workloads.back();
    round.workloads.pop_back();
    const std::span<const double> limits = all.back().took;
    const double before = medianOf(limits.first(limits.size() / 2));
    const double after = medianOf(limits.last(limits.size() / 2));
    if (std::fabs(after - before) <= options.maxDrift * std::min(before, after))
      rounds.accepted.push_back(std::move(round));
    else
      ++rounds.discarded;
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

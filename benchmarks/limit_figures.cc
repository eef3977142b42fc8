#include "benchmarks/limit_figures.h"

#include <thread>

#include <fmt/format.h>

#include "benchmarks/gemm.h"
#include "benchmarks/limits.h"
#include "benchmarks/twins/twins.h"

namespace baton::benchmarks {

namespace {

/// `amount` of something in one run, as so many of it a second; the spread is that of the rounds
/// between which the add-and-branch loop did not move.
Figure rate(std::string id, std::string what, double amount, std::string unit, Clock clock,
            std::function<Workload()> make) {
  Figure figure{id, what, {}};
  figure.measure = [=](const Settings& settings) -> Result<std::vector<Row>> {
    SamplerOptions options = settings.sampling();
    options.clock = clock;
    const Workload workload[] = {make()};
    const Rounds rounds = sampleRounds(workload, addAndBranchLoop(), options);
    Row row = rowOf(id, what, rounds, [&](const Round& r) { return amount / r.workloads[0] * 1e-9; });
    row.unit = unit;
    return std::vector<Row>{row};
  };
  return figure;
}

/// Both cores at once, each doing all of it.
Workload onTwoThreads(Workload workload) {
  return {workload.name + " on two threads", [workload](uint64_t runs) {
            std::thread other([&] { workload.run(runs); });
            workload.run(runs);
            other.join();
          }};
}

constexpr double kKiB = 1024;
constexpr double kMiB = 1024 * kKiB;

}  // namespace

std::vector<Figure> limitFigures(const Settings& settings) {
  std::vector<Figure> figures;
  if (twins() == nullptr) return figures;
  constexpr double kMany = 1e5;
  figures.push_back({"limits.branch", "dependent add-and-branch loop", [](const Settings& s) {
                       // To itself: how steady the machine is.
                       const Workload loop[] = {addAndBranchLoop()};
                       const Rounds rounds = sampleRounds(loop, addAndBranchLoop(), s.sampling());
                       Row row = rowOf("limits.branch", "dependent add-and-branch loop", rounds,
                                       [](const Round& r) { return 1e-9 / r.workloads[0]; });
                       row.unit = "Gturns/s";
                       return Result<std::vector<Row>>(std::vector<Row>{row});
                     }});
  figures.push_back(rate("limits.fma.1", "fused multiply-add, one thread", 2 * kMany, "GFLOP/s",
                         Clock::Thread, [] { return multiplyAddLoop(kMany); }));
  figures.push_back(rate("limits.fma.2", "fused multiply-add, two threads", 4 * kMany, "GFLOP/s", Clock::Wall,
                         [] { return onTwoThreads(multiplyAddLoop(kMany)); }));
  figures.push_back(rate("limits.issue", "vector instructions of a mix", kMany, "G/s", Clock::Thread,
                         [] { return issueLoop(kMany); }));
  figures.push_back(rate("limits.divide", "vector divisions", kMany, "G/s", Clock::Thread,
                         [] { return divideLoop(kMany); }));
  struct Level {
    const char* name;
    double bytes;
  };
  // Sizes that fit where their name says, on every machine of the last years.
  std::vector<Level> levels = {{"L1", 16 * kKiB}, {"L2", 256 * kKiB}, {"L3", 8 * kMiB}, {"DRAM", 512 * kMiB}};
  if (settings.isSmoke) levels = {{"L1", 16 * kKiB}, {"L2", 256 * kKiB}};
  for (const Level& level : levels) {
    const double bytes = level.bytes;
    figures.push_back(rate(fmt::format("limits.read.{}", level.name),
                           fmt::format("reading {} KiB", bytes / kKiB), bytes, "GB/s", Clock::Thread,
                           [bytes] { return readLoop(bytes); }));
    figures.push_back(rate(fmt::format("limits.copy.{}", level.name),
                           fmt::format("copying, {} KiB with the copy", bytes / kKiB), bytes, "GB/s",
                           Clock::Thread, [bytes] { return copyLoop(bytes); }));
  }
  if (!settings.isSmoke)
    figures.push_back(rate("limits.stream.DRAM", "copying past the caches", 512 * kMiB, "GB/s", Clock::Thread,
                           [] { return streamLoop(512 * kMiB); }));
  for (const bool isCold : {false, true})
    for (const int64_t rows : {1, 2, 4, 6, 8, 12, 16, 26, 32, 48, 64, 96, 128}) {
      if (settings.isSmoke && rows != 6) continue;
      const GemmSize size{rows, 768, 768};
      figures.push_back(rate(fmt::format("limits.gemm.{}.M{}", isCold ? "cold" : "hot", rows),
                             fmt::format("a written product, {}, {} rows", isCold ? "cold" : "hot", rows),
                             size.flops(), "GFLOP/s", Clock::Thread,
                             [size, isCold] { return gemmTwin(size, isCold ? kColdWeights : 1); }));
    }
  return figures;
}

}  // namespace baton::benchmarks

// run-benchmarks: measures, prints one table, and says which figures miss their bar.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "benchmarks/limits.h"
#include "benchmarks/vm_micro.h"
#include "tools/cli/command.h"
#include "tools/cli/file.h"

namespace baton::benchmarks {
namespace {

struct Options {
  std::vector<std::string> ids;
  std::string json;
  bool check = false;
};

Result<int> run(const Options& options) {
  BATON_TRY_ASSIGN(const std::vector<MicroFigure> figures, microFigures());
  const Workload limit = addAndBranchLoop();
  nlohmann::json rows = nlohmann::json::array();
  bool allHold = true;
  double scalarCost = 0;
  fmt::print("{:<12} {:<40} {:>10} {:>18} {:>8} {:>10} {:>8}\n", "id", "what", "ratio", "10 % .. 90 %",
             "at most", "ns", "samples");
  for (const MicroFigure& figure : figures) {
    const bool isWanted = options.ids.empty() ||
                          std::any_of(options.ids.begin(), options.ids.end(),
                                      [&](const std::string& id) { return figure.id.rfind(id, 0) == 0; });
    const bool isScalar = &figure == &figures.front();
    if (!isWanted && !isScalar) continue;
    // A run of a whole program is long: fewer of them say as much.
    const bool isLong = figure.itemsPerRun > 10'000;
    const Ratio ratio =
        sampleRatio(figure.workload, limit,
                    {.clock = Clock::Thread, .samples = isLong ? 7 : 21, .maxAttempts = isLong ? 60 : 400});
    if (ratio.accepted == 0)
      return Error(ErrorCode::Unsupported, figure.id + ": the machine's speed moved too much for any sample");
    auto cost = [&](double perRun) {
      return (perRun - figure.overheadItems * scalarCost) / figure.itemsPerRun;
    };
    if (isScalar) scalarCost = ratio.median / figure.itemsPerRun;
    if (!isWanted) continue;
    const double median = cost(ratio.median);
    const bool holds = !figure.most || median <= *figure.most;
    allHold &= holds;
    fmt::print("{:<12} {:<40} {:>10.2f} {:>8.2f} .. {:>6.2f} {:>8} {:>10.2f} {:>8}{}\n", figure.id,
               figure.what, median, cost(ratio.low), cost(ratio.high),
               figure.most ? fmt::format("{:.0f}", *figure.most) : "-",
               ratio.secondsPerRun * 1e9 / figure.itemsPerRun, ratio.accepted, holds ? "" : "  MISSED");
    std::fflush(stdout);
    rows.push_back({{"id", figure.id},
                    {"what", figure.what},
                    {"ratio", median},
                    {"low", cost(ratio.low)},
                    {"high", cost(ratio.high)},
                    {"most", figure.most ? nlohmann::json(*figure.most) : nlohmann::json()},
                    {"secondsPerRun", ratio.secondsPerRun},
                    {"accepted", ratio.accepted},
                    {"discarded", ratio.discarded}});
  }
  if (!options.json.empty()) BATON_TRY(tools::writeTextFile(options.json, rows.dump(1) + "\n"));
  return options.check && !allHold ? tools::kExitFailure : tools::kExitOk;
}

}  // namespace
}  // namespace baton::benchmarks

int main(int argc, char** argv) {
  baton::benchmarks::Options options;
  baton::tools::Command command(
      "run-benchmarks", "Measures the machine's own costs as multiples of a dependent add-and-branch loop.",
      "Examples:\n  run-benchmarks\n  run-benchmarks B9.call --json out.json\n");
  command.app().add_option("ids", options.ids, "figures whose id begins so; none: all");
  command.app().add_option("--json", options.json, "also write the rows here")->type_name("FILE");
  command.app().add_flag("--check", options.check, "exit with 1 when a figure misses its bar");
  return command.run(argc, argv, [&] { return baton::benchmarks::run(options); });
}

// run-benchmarks: measures, prints one table, and says which figures miss their bar.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "benchmarks/figure.h"
#include "benchmarks/twins/twins.h"
#include "benchmarks/vm_micro.h"
#ifdef BATON_BENCHMARKS_WITH_CODEGEN
#include "benchmarks/kernel_figures.h"
#include "benchmarks/limit_figures.h"
#endif
#include "tools/cli/command.h"
#include "tools/cli/file.h"

namespace baton::benchmarks {

std::vector<Group> allGroups() {
  return {
      {"B9", "the machine's own costs, in turns of a dependent add-and-branch loop", vmFigures},
#ifdef BATON_BENCHMARKS_WITH_CODEGEN
      {"limits", "what this processor can do", limitFigures},
      {"kernels", "native kernels alone, on one thread", kernelFigures},
#endif
  };
}

namespace {

struct Options {
  std::vector<std::string> ids;
  std::vector<std::string> groups;
  std::string json;
  bool check = false;
  bool list = false;
  Settings settings;
};

/// "kernels" and "kernels.gelu" choose kernels.gelu.8MiB; "kernels.sum" does not choose kernels.summary.
bool isChosen(const Options& options, const std::string& id) {
  const auto matches = [&](const std::string& wanted) {
    return id.rfind(wanted, 0) == 0 &&
           (id.size() == wanted.size() || id[wanted.size()] == '.' || wanted.ends_with('.'));
  };
  return options.ids.empty() || std::any_of(options.ids.begin(), options.ids.end(), matches);
}

/// Several figures may be of rows below an id that is wanted, or a wanted row be one of a figure's.
bool mayHoldChosen(const Options& options, const std::string& figure) {
  return isChosen(options, figure) ||
         std::any_of(options.ids.begin(), options.ids.end(),
                     [&](const std::string& wanted) { return wanted.rfind(figure + ".", 0) == 0; });
}

std::string barText(const Row& row) {
  if (row.bar == Bar::None) return "-";
  return fmt::format("{} {:.4g}", row.bar == Bar::AtLeast ? ">=" : "<=", row.limit);
}

std::string verdict(const Row& row) {
  std::string text;
  if (!row.spread)
    text = "  NOTHING MEASURED: the machine's speed moved too much for any sample";
  else if (!row.hasSettled)
    text = fmt::format("  noisy: {} samples thrown away", row.discarded);
  return row.holds() ? text : text + "  MISSED";
}

void printHeader() {
  fmt::print("{:<36} {:>9} {:>19} {:<9} {:>8} {:>10} {:>7}  {}\n", "id", "median", "10 % .. 90 %", "unit",
             "bar", "us", "samples", "what");
}

void printRow(const Row& row) {
  const Spread spread = row.spread.value_or(Spread{});
  fmt::print("{:<36} {:>9.3f} {:>8.3f} .. {:>7.3f} {:<9} {:>8} {:>10.4g} {:>7}  {}{}\n", row.id,
             spread.median, spread.low, spread.high, row.unit.empty() ? "ratio" : row.unit, barText(row),
             row.seconds * 1e6, row.accepted, row.what, verdict(row));
  std::fflush(stdout);
}

nlohmann::json jsonOf(const Row& row) {
  const auto number = [&](double Spread::* which) {
    return row.spread ? nlohmann::json((*row.spread).*which) : nlohmann::json();
  };
  nlohmann::json bar;
  if (row.bar != Bar::None) bar = {{row.bar == Bar::AtLeast ? "atLeast" : "atMost", row.limit}};
  return {{"id", row.id},
          {"what", row.what},
          {"unit", row.unit.empty() ? "ratio" : row.unit},
          {"median", number(&Spread::median)},
          {"low", number(&Spread::low)},
          {"high", number(&Spread::high)},
          {"bar", bar},
          {"holds", row.holds()},
          {"secondsPerRun", row.seconds},
          {"accepted", row.accepted},
          {"discarded", row.discarded},
          {"settled", row.hasSettled}};
}

nlohmann::json machine() {
  return {{"level", twins() == nullptr ? "" : twins()->level},
          {"threads", std::thread::hardware_concurrency()}};
}

Result<int> run(const Options& options) {
  nlohmann::json rows = nlohmann::json::array();
  bool allHold = true;
  bool isFirst = true;
  bool anyChosen = false;
  for (const Group& group : allGroups())
    for (const Figure& figure : group.figures(options.settings)) {
      if (!mayHoldChosen(options, figure.id)) continue;
      anyChosen = true;
      if (options.list) {
        fmt::print("{:<36} {}\n", figure.id, figure.what);
        continue;
      }
      if (std::exchange(isFirst, false)) printHeader();
      BATON_TRY_ASSIGN(const std::vector<Row> measured, figure.measure(options.settings));
      for (const Row& row : measured) {
        if (!isChosen(options, row.id)) continue;
        printRow(row);
        allHold &= row.holds();
        rows.push_back(jsonOf(row));
      }
    }
  if (!anyChosen) throw tools::UsageError("no figure has such an id; --list shows them all");
  if (!options.json.empty()) {
    const nlohmann::json document = {{"schema", 1},
                                     {"seed", options.settings.seed},
                                     {"smoke", options.settings.isSmoke},
                                     {"machine", machine()},
                                     {"rows", std::move(rows)}};
    BATON_TRY(tools::writeTextFile(options.json, document.dump(1) + "\n"));
  }
  return options.check && !allHold ? tools::kExitFailure : tools::kExitOk;
}

}  // namespace
}  // namespace baton::benchmarks

int main(int argc, char** argv) {
  baton::benchmarks::Options options;
  baton::tools::Command command(
      "run-benchmarks", "Measures ratios to what the machine can do, and to the same written by hand.",
      "Examples:\n"
      "  run-benchmarks --list\n"
      "  run-benchmarks B9.call --json out.json\n"
      "  run-benchmarks --group kernels --check\n");
  command.app().add_option("ids", options.ids, "figures with these ids, or below them; none: all");
  command.addRepeatable("--group", options.groups, "all figures of a group: B9, limits, kernels")
      ->type_name("GROUP");
  command.app().add_option("--json", options.json, "also write the rows here")->type_name("FILE");
  command.app().add_flag("--list", options.list, "say what there is, and measure nothing");
  command.app().add_flag("--check", options.check, "exit with 1 when a figure misses its bar");
  command.app().add_option("--seed", options.settings.seed, "of the data")->type_name("N");
  command.app().add_flag("--smoke", options.settings.isSmoke,
                         "small sizes and one sample: only shows that it runs");
  return command.run(argc, argv, [&] {
    options.ids.insert(options.ids.end(), options.groups.begin(), options.groups.end());
    return baton::benchmarks::run(options);
  });
}

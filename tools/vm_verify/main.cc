// vm-verify: every rule that a program breaks.
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bytecode/container/reader.h"
#include "bytecode/verifier/verifier.h"
#include "tools/cli/command.h"
#include "tools/cli/program_file.h"

namespace {

using namespace baton;
using namespace baton::tools;

struct Options {
  std::string input;
  std::string blobs;
  std::string format = "text";
  size_t limit = bytecode::kDefaultViolationLimit;
  bool listsRules = false;
};

int listRules() {
  for (const bytecode::RuleInfo& rule : bytecode::allRules())
    fmt::print("{:<18} {}\n", rule.name, rule.summary);
  return kExitOk;
}

void printJson(const bytecode::Program& program, const std::vector<bytecode::Violation>& violations) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const bytecode::Violation& violation : violations) {
    nlohmann::ordered_json one = {{"rule", ruleName(violation.rule)}, {"message", violation.message}};
    if (violation.function) one["function"] = program.functions[violation.function->value()].name;
    if (violation.pc) one["pc"] = *violation.pc;
    list.push_back(std::move(one));
  }
  const nlohmann::ordered_json json = {{"violations", std::move(list)}};
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

Result<int> verifyFile(const Options& options) {
  if (options.listsRules) return listRules();
  if (options.input.empty()) throw UsageError("expected a file, or --rules");
  if (isParamsFile(options.input)) {
    BATON_TRY_ASSIGN(const bytecode::Params params,
                     bytecode::openParams(options.input, {bytecode::OpenMode::Map, true}));
    fmt::print("{}: ok: {} tensors\n", options.input, params.tensors.size());
    return kExitOk;
  }
  BATON_TRY_ASSIGN(const bytecode::Program program, readProgram(options.input, options.blobs));
  const auto violations = bytecode::findViolations(program, options.limit);
  if (options.format == "json") {
    printJson(program, violations);
  } else {
    for (const std::string& text : describeViolations(program, violations))
      printLine(stderr, fmt::format("{}: {}", options.input, text));
    if (violations.empty())
      fmt::print("{}: ok: {} functions, {} words of code\n", options.input, program.functions.size(),
                 program.code.size());
  }
  return violations.empty() ? kExitOk : kExitBadFile;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  Command command("vm-verify",
                  "Checks an executable (.vmexe), its text (.vmasm) or weights (.vmparams) and reports every "
                  "rule it breaks.",
                  "Examples:\n  vm-verify m.vmexe\n  vm-verify m.vmexe --format json\n  vm-verify --rules");
  CLI::App& app = command.app();
  app.add_option("input", options.input, "the file; - is standard input");
  app.add_flag("--rules", options.listsRules, "list the rules and what they demand");
  app.add_option("--blobs", options.blobs, "directory of the files that a text names");
  app.add_option("--format", options.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option("--limit", options.limit, "report at most this many")->check(CLI::PositiveNumber);
  return command.run(argc, argv, [&] { return verifyFile(options); });
}

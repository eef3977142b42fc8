// vm-opt: runs passes over program text and prints the result, for people who work on passes.
#include <cstdio>

#include "compiler/frontend/parser.h"
#include "compiler/ir/op.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/types/typing.h"
#include "tools/cli/command.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"

namespace baton::tools {
namespace {

struct Options {
  std::string input;
  std::string output = "-";
  std::vector<std::string> passes;
  std::vector<std::string> entries;
  std::vector<std::string> disabledPasses;
  std::vector<std::string> printBefore;
  std::vector<std::string> printAfter;
  int level = 3;
  bool list = false;
  bool timePasses = false;
  bool verifyEach = false;
  bool printConstants = false;
};

void listPasses() {
  for (const passes::PassInfo& pass : passes::allPasses())
    std::printf("%-20s %s  %s\n", std::string(pass.name).c_str(),
                pass.isMandatory() ? "always" : ("-O" + std::to_string(pass.level) + "   ").c_str(),
                std::string(pass.summary).c_str());
}

bool report(const frontend::Diagnostics& diagnostics, const ir::Module& module) {
  std::fputs(frontend::render(diagnostics, module.sources).c_str(), stderr);
  return diagnostics.hasErrors();
}

Result<int> run(const Options& options) {
  if (options.list) {
    listPasses();
    return kExitOk;
  }
  if (options.input.empty()) throw UsageError("no input");
  BATON_TRY_ASSIGN(std::string text, readTextFile(options.input));
  passes::Pipeline pipeline = passes::pipelineOf(options.level);
  if (!options.passes.empty()) {
    pipeline = orUsageError(passes::pipelineFromNames(options.passes));
  }
  orUsageError(passes::disablePasses(pipeline, options.disabledPasses));

  ir::Module module;
  frontend::Diagnostics diagnostics;
  frontend::ParseOptions parse;
  parse.entries = options.entries;
  frontend::parseProgram(options.input, std::move(text), parse, ops::OpRegistry::instance(), module,
                         diagnostics);
  if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
  passes::PassTimer timer;
  if (!diagnostics.hasErrors()) {
    passes::PassContext context{.diagnostics = diagnostics};
    passes::PassPrinter printer(
        options.printBefore, options.printAfter, [](const std::string& heading, const ir::Module& now) {
          std::fprintf(stderr, "// %s\n%s\n", heading.c_str(), ir::print(now).c_str());
        });
    std::vector<passes::Instrument*> instruments{&printer};
    if (options.timePasses) instruments.push_back(&timer);
    passes::PassVerifier verifier([](ir::Module& now) { return ir::verify(now); });
    if (options.verifyEach) instruments.push_back(&verifier);
    BATON_TRY(passes::runPipeline(module, pipeline, context, instruments));
  }
  if (report(diagnostics, module)) return kExitFailure;
  if (options.timePasses) std::fputs(timer.report().c_str(), stderr);
  ir::PrintOptions print;
  print.constants = options.printConstants;
  BATON_TRY(writeTextFile(options.output, ir::print(module, print)));
  return kExitOk;
}

}  // namespace
}  // namespace baton::tools

int main(int argc, char** argv) {
  baton::tools::Command command("vm-opt",
                                "Runs passes over the text of a program (.relay) and prints the result.",
                                "Examples:\n  vm-opt model.relay --passes flatten-matches,contify\n  vm-opt "
                                "model.relay -O1\n  vm-opt --list");
  baton::tools::Options options;
  CLI::App& app = command.app();
  app.add_option("input", options.input, "program text, - for standard input");
  app.add_option("-o,--output", options.output, "where to write")->capture_default_str();
  app.add_option("--passes", options.passes, "passes to run, in order, instead of those of a level")
      ->delimiter(',');
  app.add_option("-O,--optimise", options.level, "passes of this level")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  app.add_flag("--list", options.list, "lists all passes");
  command.addRepeatable("--entry", options.entries, "function to export besides @main");
  command.addRepeatable("--disable-pass", options.disabledPasses, "pass to leave out");
  command.addRepeatable("--print-before", options.printBefore,
                        "pass whose input goes to standard error, or all");
  command.addRepeatable("--print-after", options.printAfter,
                        "pass whose output goes to standard error, or all");
  app.add_flag("--time-passes", options.timePasses, "times, to standard error");
  app.add_flag("--verify-each", options.verifyEach, "check the program after every pass");
  app.add_flag("--print-constants", options.printConstants,
               "constants in full, so that the text stands alone");
  return command.run(argc, argv, [&] { return baton::tools::run(options); });
}

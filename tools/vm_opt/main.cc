// vm-opt: runs passes over program text and prints the result, for people who work on passes.
#include <cstdio>
#include <optional>

#include "compiler/frontend/parser.h"
#include "compiler/ir/op.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/passes/document_passes.h"
#include "compiler/passes/instruments.h"
#include "compiler/types/typing.h"
#include "tools/cli/command.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/file.h"

namespace baton::tools {
namespace {

struct Options {
  std::string input;
  std::string output = "-";
  std::optional<std::string> passes;
  std::vector<std::string> entries;
  std::vector<std::string> disabledPasses;
  passes::PassPrinter::Choice print;
  int level = 3;
  bool list = false;
  bool document = false;
  bool timePasses = false;
  bool countPasses = false;
  bool verifyEach = false;
  bool printConstants = false;
};

bool report(const frontend::Diagnostics& diagnostics, const ir::Module& module) {
  std::fputs(frontend::render(diagnostics, module.sources).c_str(), stderr);
  return diagnostics.hasErrors();
}

passes::Pipeline pipelineOf(const Options& options) {
  passes::Pipeline pipeline = !options.passes ? passes::pipelineOf(options.level)
                                              : orUsageError(passes::parsePipeline(*options.passes));
  orUsageError(passes::disablePasses(pipeline, options.disabledPasses));
  orUsageError(passes::propertiesAfter(pipeline));
  for (const auto* names : {&options.print.before, &options.print.after})
    for (const std::string& name : *names)
      if (name != "all" && passes::findPass(name) == nullptr)
        throw UsageError(passes::noPassNamed(name).message());
  return pipeline;
}

Result<void> runPasses(const Options& options, const passes::Pipeline& pipeline, ir::Module& module,
                       frontend::Diagnostics& diagnostics) {
  passes::PassCounters counters;
  passes::PassContext context{.diagnostics = diagnostics, .counters = &counters};
  passes::PassPrinter printer(
      options.print, [](const ir::Module& now) { return ir::print(now); },
      [](const std::string& heading, const std::string& text) {
        std::fprintf(stderr, "// %s\n%s\n", heading.c_str(), text.c_str());
      });
  passes::PassTimer timer;
  passes::PassVerifier verifier([](ir::Module& now) { return ir::verify(now); });
  std::vector<passes::Instrument*> instruments{&printer};
  if (options.timePasses) instruments.push_back(&timer);
  if (options.verifyEach) {
    BATON_TRY(ir::verify(module));
    instruments.push_back(&verifier);
  }
  BATON_TRY(passes::runPipeline(module, pipeline, context, instruments));
  if (options.timePasses) std::fputs(timer.report(pipeline).c_str(), stderr);
  if (options.countPasses) std::fputs(passes::report(counters).c_str(), stderr);
  return success();
}

Result<int> run(const Options& options) {
  if (options.list || options.document) {
    std::fputs((options.list ? passes::listPasses() : passes::documentPasses()).c_str(), stdout);
    return kExitOk;
  }
  if (options.input.empty()) throw UsageError("no input");
  const passes::Pipeline pipeline = pipelineOf(options);
  BATON_TRY_ASSIGN(std::string text, readTextFile(options.input));

  ir::Module module;
  frontend::Diagnostics diagnostics;
  frontend::ParseOptions parse;
  parse.entries = options.entries;
  orUsageError(frontend::parseProgram(options.input, std::move(text), parse, ops::OpRegistry::instance(),
                                      module, diagnostics));
  if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
  if (!diagnostics.hasErrors()) BATON_TRY(runPasses(options, pipeline, module, diagnostics));
  if (report(diagnostics, module)) return kExitFailure;
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
                                "Examples:\n  vm-opt model.relay --passes 'flatten-matches, "
                                "repeat(inline{max-bindings=8}, propagate)'\n"
                                "  vm-opt model.relay -O1 --verify-each\n  vm-opt --list-passes");
  baton::tools::Options options;
  CLI::App& app = command.app();
  app.add_option("input", options.input, "program text, - for standard input");
  app.add_option("-o,--output", options.output, "where to write")->capture_default_str();
  app.add_option("--passes", options.passes, "pipeline to run instead of that of a level");
  app.add_option("-O,--optimise", options.level, "passes of this level")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  app.add_flag("--list-passes", options.list, "lists all passes");
  app.add_flag("--document-passes", options.document, "prints the documentation of all passes");
  command.addRepeatable("--entry", options.entries, "function to export besides @main");
  command.addRepeatable("--disable-pass", options.disabledPasses, "passes to leave out")->delimiter(',');
  command
      .addRepeatable("--print-before", options.print.before,
                     "passes whose input goes to standard error, or all")
      ->delimiter(',');
  command
      .addRepeatable("--print-after", options.print.after,
                     "passes whose output goes to standard error, or all")
      ->delimiter(',');
  app.add_flag("--print-changed", options.print.changed,
               "output of every pass that changed something, to standard error");
  app.add_flag("--time-passes", options.timePasses, "times, to standard error");
  app.add_flag("--pass-counters", options.countPasses, "what the passes did, to standard error");
  app.add_flag("--verify-each", options.verifyEach, "check the program after every pass");
  app.add_flag("--print-constants", options.printConstants,
               "constants in full, so that the text stands alone");
  return command.run(argc, argv, [&] { return baton::tools::run(options); });
}

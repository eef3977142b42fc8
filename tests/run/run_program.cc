// run_program FILE..., run_program --random SEED COUNT: runs whole programs in every way there is and
// compares the results, bit for bit, with the evaluator's and with what the comments of the program expect.
// run_program --print SEED COUNT FILE...: prints programs and parses them again, which changes nothing.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>

#include <fmt/format.h>

#include "case_file.h"
#include "compiled_program.h"
#include "compiler/eval/evaluator.h"
#include "compiler/eval/text.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/types/typing.h"
#include "constant_inputs.h"
#include "formats/value_text.h"
#include "outcome.h"
#include "printed_program.h"
#include "random_program.h"
#include "tests/effort.h"
#include "tools/cli/file.h"

namespace baton::run {
namespace {

/// Looks at the module after every pass, until it says that this is enough.
class AfterEachPass final : public passes::Instrument {
 public:
  explicit AfterEachPass(std::function<bool(const std::string& pass)> check) : check_(std::move(check)) {}
  Result<void> after(const passes::PipelineStep& step, ir::Module&, std::chrono::nanoseconds) override {
    if (check_(std::string(step.pass->name))) return success();
    return Error(ErrorCode::Internal, "a check after a pass failed");
  }

 private:
  std::function<bool(const std::string& pass)> check_;
};

class ProgramRunner {
 public:
  ProgramRunner(std::string self, std::string name, std::string text)
      : self_(std::move(self)), name_(std::move(name)), text_(std::move(text)) {}
  /// Number of failures, each reported.
  int run();

 private:
  void fail(const Run& run, const std::string& where, const std::string& what) {
    ++failures_;
    std::fputs(fmt::format("{}:{}: {}: {}\n", name_, run.line, where, what).c_str(), stderr);
  }
  /// A run that the evaluator answered as its comments say.
  struct Case {
    const Run* run;
    std::vector<TextValue> inputs;
    Outcome oracle;
  };

  std::optional<ir::Module> typed(frontend::Diagnostics& diagnostics);
  void checkRefused();
  /// Evaluates the program as it is written, which says what every other way must give.
  std::vector<Case> evaluateRuns(ir::Module& module);
  /// In the order of the parameters.
  static Result<std::vector<TextValue>> inputsOf(const ir::Function& entry, const Run& run);
  static Result<std::vector<eval::Value>> valuesOf(ir::Module& module, ir::GlobalId entry,
                                                   const std::vector<TextValue>& inputs);
  Outcome evaluate(ir::Module& module, ir::GlobalId entry, std::vector<eval::Value> inputs) const;
  void checkSame(const Case& one, const std::string& where, const Outcome& other);
  /// Runs the pipeline of the level, evaluating as it goes.
  void checkLevel(const std::vector<Case>& cases, int level);
  /// The same at -O3 with the inputs of one run as constants; compiled, saved and run, too.
  void checkBuiltIn(const Case& one, bool isCompiled);
  /// The same at -O3 where every entry is called with tensors of the extents of its first run.
  void checkFixedExtents(const std::vector<Case>& cases);
  struct Evaluated {
    const Case* one;
    std::string function;
    std::vector<eval::Value> inputs;
  };
  void checkPasses(ir::Module& module, int level, const std::string& prefix, std::vector<Evaluated> runs);
  void checkModule(ir::Module& module, const std::string& at, bool verifiesOnly,
                   std::vector<Evaluated>& runs);

  /// Saved, loaded and run by another process.
  void checkInNewProcess(const std::vector<const Case*>& cases, const std::string& where,
                         const CompiledProgram& program, const std::vector<EntryCall>& calls);
  /// Compiles and runs the executable, in every way there is.
  void checkCompiled(const std::vector<Case>& cases);
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const Run& run : cases_.runs)
      if (std::find(names.begin(), names.end(), run.entry) == names.end()) names.push_back(run.entry);
    return names;
  }

  std::string self_;
  std::string name_;
  std::string text_;
  CaseFile cases_;
  std::string report_;  // of a program that has errors
  int failures_ = 0;
};

std::optional<ir::Module> ProgramRunner::typed(frontend::Diagnostics& diagnostics) {
  ir::Module module;
  frontend::ParseOptions options;
  for (const Run& run : cases_.runs)
    if (run.entry != "main") options.entries.push_back(run.entry);
  const Result<void> parsed =
      frontend::parseProgram(name_, text_, options, ops::OpRegistry::instance(), module, diagnostics);
  if (!parsed.has_value()) diagnostics.error({}, parsed.error().message());
  if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
  if (diagnostics.hasErrors()) {
    report_ = frontend::render(diagnostics, module.sources);
    return std::nullopt;
  }
  return module;
}

Result<std::vector<TextValue>> ProgramRunner::inputsOf(const ir::Function& entry, const Run& run) {
  const std::vector<std::string>& names = entry.entryNames;
  std::vector<std::optional<TextValue>> given(entry.params.size());
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    BATON_TRY_ASSIGN(NamedValue named, parseNamedValue(run.inputs[i]));
    const size_t at =
        named.name ? static_cast<size_t>(std::find(names.begin(), names.end(), *named.name) - names.begin())
                   : i;
    if (at >= given.size())
      return Error(ErrorCode::InvalidArgument, fmt::format("no parameter for input {}", run.inputs[i]));
    given[at] = std::move(named.value);
  }
  std::vector<TextValue> inputs;
  for (std::optional<TextValue>& input : given) {
    if (!input) return Error(ErrorCode::InvalidArgument, "an input is missing");
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

Result<std::vector<eval::Value>> ProgramRunner::valuesOf(ir::Module& module, ir::GlobalId entry,
                                                         const std::vector<TextValue>& inputs) {
  const ir::Function& function = module.function(entry);
  std::vector<eval::Value> values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    BATON_TRY_ASSIGN(eval::Value value,
                     eval::fromText(module, function.var(function.params[i]).type, inputs[i]));
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<std::string> textsOf(const std::vector<TextValue>& inputs) {
  std::vector<std::string> texts;
  for (const TextValue& input : inputs) texts.push_back(formatValue(input));
  return texts;
}

Outcome ProgramRunner::evaluate(ir::Module& module, ir::GlobalId entry,
                                std::vector<eval::Value> inputs) const {
  eval::Evaluator evaluator(module, {.maxSteps = 200'000'000});
  Result<eval::Value> result = evaluator.call(entry, std::move(inputs));
  if (!result.has_value())
    return {std::nullopt, result.assume_error().describe(), result.assume_error().code()};
  return {eval::toText(module, module.function(entry).result, result.assume_value()), {}, {}};
}

void ProgramRunner::checkSame(const Case& one, const std::string& where, const Outcome& other) {
  const std::string difference = differenceFromOracle(*one.run, one.oracle, other);
  if (!difference.empty()) fail(*one.run, where, difference);
}

void ProgramRunner::checkLevel(const std::vector<Case>& cases, int level) {
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  std::vector<Evaluated> runs;
  for (const Case& one : cases)
    runs.push_back({&one, one.run->entry,
                    valuesOf(*module, *module->findFunction(one.run->entry), one.inputs).assume_value()});
  checkPasses(*module, level, fmt::format("-O{}", level), std::move(runs));
}

void ProgramRunner::checkBuiltIn(const Case& one, bool isCompiled) {
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  const ir::GlobalId entry = *module->findFunction(one.run->entry);
  const std::vector<eval::Value> inputs = valuesOf(*module, entry, one.inputs).assume_value();
  const std::string prefix = "-O3, inputs built in";
  dropExports(*module);
  const Result<ir::GlobalId> built = buildInInputs(*module, entry, inputs);
  if (!built.has_value()) return fail(*one.run, prefix, built.assume_error().message());
  const std::string name = module->function(built.assume_value()).name;
  const int before = failures_;
  checkPasses(*module, 3, prefix, {{&one, name, {}}});
  if (!isCompiled || failures_ != before) return;
  const Result<CompiledProgram> compiled = compileOptimised(*module, 3);
  if (!compiled.has_value()) return fail(*one.run, prefix, compiled.assume_error().describe());
  checkInNewProcess({&one}, prefix, compiled.assume_value(), {{name, {}}});
}

void ProgramRunner::checkFixedExtents(const std::vector<Case>& cases) {
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  const std::string prefix = "-O3, extents fixed";
  dropExports(*module);
  std::vector<Evaluated> runs;
  for (const Case& one : cases) {
    const Run& run = *one.run;
    const bool isFirst = std::none_of(
        runs.begin(), runs.end(), [&](const Evaluated& other) { return other.one->run->entry == run.entry; });
    // What certainly fails for these extents is no program.
    if (!isFirst || !one.oracle.value) continue;
    const ir::GlobalId entry = *module->findFunction(run.entry);
    std::vector<eval::Value> inputs = valuesOf(*module, entry, one.inputs).assume_value();
    const std::optional<ir::GlobalId> fixed = fixExtents(*module, entry, inputs);
    if (fixed) runs.push_back({&one, module->function(*fixed).name, std::move(inputs)});
  }
  if (runs.empty()) return;
  const int before = failures_;
  checkPasses(*module, 3, prefix, runs);
  if (failures_ != before) return;
  const Result<CompiledProgram> compiled = compileOptimised(*module, 3);
  if (!compiled.has_value()) return fail(*runs.front().one->run, prefix, compiled.assume_error().describe());
  const Result<LoadedProgram> loaded = LoadedProgram::load(compiled.assume_value());
  if (!loaded.has_value()) return fail(*runs.front().one->run, prefix, loaded.assume_error().describe());
  for (const Evaluated& one : runs)
    checkSame(*one.one, prefix,
              outcomeOf(loaded.assume_value().run({one.function, textsOf(one.one->inputs)})));
}

void ProgramRunner::checkPasses(ir::Module& module, int level, const std::string& prefix,
                                std::vector<Evaluated> runs) {
  frontend::Diagnostics diagnostics;
  passes::PassContext context{.diagnostics = diagnostics};
  const passes::Pipeline pipeline = passes::pipelineOf(level);
  AfterEachPass check([&](const std::string& pass) {
    checkModule(module, fmt::format("{}, after {}", prefix, pass), cases_.isOnce, runs);
    return !runs.empty();
  });
  passes::Instrument* instruments[] = {&check};
  const Run& first = *runs.front().one->run;
  Result<void> result = passes::runPipeline(module, pipeline, context, instruments);
  if (runs.empty()) return;
  if (!result.has_value()) return fail(first, prefix, result.assume_error().describe());
  if (diagnostics.hasErrors()) return fail(first, prefix, frontend::render(diagnostics, module.sources));
  if (cases_.isOnce) checkModule(module, prefix, false, runs);
}

/// Drops the runs that fail from the list; all of them when the module breaks a rule.
void ProgramRunner::checkModule(ir::Module& module, const std::string& at, bool verifiesOnly,
                                std::vector<Evaluated>& runs) {
  const auto failAll = [&](const std::string& message) {
    fail(*runs.front().one->run, at, message);
    runs.clear();
  };
  if (Result<void> verified = ir::verify(module); !verified.has_value()) {
    std::fputs(ir::print(module).c_str(), stderr);
    return failAll(verified.assume_error().message());
  }
  if (verifiesOnly) return;
  if (const std::string errors = errorsOfPrinted(module, false); !errors.empty())
    return failAll("printed: " + errors);
  const int before = failures_;
  std::erase_if(runs, [&](const Evaluated& one) {
    const int beforeThis = failures_;
    checkSame(*one.one, at, evaluate(module, *module.findFunction(one.function), one.inputs));
    return failures_ != beforeThis;
  });
  if (failures_ != before) std::fputs(ir::print(module).c_str(), stderr);
}

void ProgramRunner::checkInNewProcess(const std::vector<const Case*>& cases, const std::string& where,
                                      const CompiledProgram& program, const std::vector<EntryCall>& calls) {
  Result<std::vector<Result<std::string>>> results = runInNewProcess(self_, program, calls);
  const std::string how = where + ", in a new process";
  if (!results.has_value()) return fail(*cases.front()->run, how, results.assume_error().describe());
  for (size_t i = 0; i < cases.size(); ++i)
    checkSame(*cases[i], how, outcomeOf(std::move(results.assume_value()[i])));
}

void ProgramRunner::checkCompiled(const std::vector<Case>& cases) {
  for (int level : {0, 1, 2, 3}) {
    if (cases_.isOnce && level != 0 && level != 3) continue;
    const Result<CompiledProgram> compiled = compileProgram(name_, text_, level, entries());
    const std::string where = fmt::format("compiled with -O{}", level);
    if (!compiled.has_value()) return fail(*cases.front().run, where, compiled.assume_error().describe());
    std::vector<const Case*> all;
    std::vector<EntryCall> calls;
    for (const Case& one : cases) {
      all.push_back(&one);
      calls.push_back({one.run->entry, textsOf(one.inputs)});
    }
    const auto checkLoaded = [&](const std::string& how, bool interpretsKernels, bool usesSwitch) {
      const Result<LoadedProgram> loaded = LoadedProgram::load(compiled.assume_value(), interpretsKernels);
      if (!loaded.has_value()) return fail(*cases.front().run, where + how, loaded.assume_error().describe());
      for (size_t i = 0; i < calls.size(); ++i)
        checkSame(cases[i], where + how, outcomeOf(loaded.assume_value().run(calls[i], usesSwitch)));
    };
    checkLoaded("", false, false);
    if (level != 3) continue;
    checkLoaded(", kernels interpreted", true, false);
    checkLoaded(", portable dispatch", false, true);
    checkInNewProcess(all, where, compiled.assume_value(), calls);
  }
}

std::vector<ProgramRunner::Case> ProgramRunner::evaluateRuns(ir::Module& module) {
  std::vector<Case> cases;
  for (const Run& run : cases_.runs) {
    const std::optional<ir::GlobalId> entry = module.findFunction(run.entry);
    if (!entry) {
      fail(run, "compiler", fmt::format("no function @{}", run.entry));
      continue;
    }
    Result<std::vector<TextValue>> inputs = inputsOf(module.function(*entry), run);
    if (!inputs.has_value()) {
      fail(run, "inputs", inputs.assume_error().message());
      continue;
    }
    Result<std::vector<eval::Value>> values = valuesOf(module, *entry, inputs.assume_value());
    if (!values.has_value()) {
      fail(run, "inputs", values.assume_error().message());
      continue;
    }
    Outcome oracle = evaluate(module, *entry, std::move(values).assume_value());
    const std::string difference = differenceFromComments(run, oracle);
    if (difference.empty())
      cases.push_back({&run, std::move(inputs).assume_value(), std::move(oracle)});
    else
      fail(run, "evaluator", difference);
  }
  return cases;
}

void ProgramRunner::checkRefused() {
  frontend::Diagnostics diagnostics;
  Run run;
  std::optional<ir::Module> module = typed(diagnostics);
  std::string report;
  if (module) {
    passes::PassContext context{.diagnostics = diagnostics};
    Result<void> result = passes::runPipeline(*module, passes::pipelineOf(0), context);
    if (!result.has_value()) return fail(run, "compiler", result.assume_error().describe());
    report = frontend::render(diagnostics, module->sources);
    if (!diagnostics.hasErrors()) return fail(run, "compiler", "expected an error, found none");
  } else {
    report = report_;
  }
  for (const std::string& part : cases_.compileErrors)
    if (report.find(part) == std::string::npos)
      fail(run, "compiler", fmt::format("expected an error with '{}', found\n{}", part, report));
}

int ProgramRunner::run() {
  Result<CaseFile> cases = parseCaseFile(text_);
  if (!cases.has_value()) {
    fail({}, "comments", cases.assume_error().message());
    return failures_;
  }
  cases_ = std::move(cases).assume_value();
  cases_.isOnce = cases_.isOnce || kIsCoarse;
  if (!cases_.compileErrors.empty()) {
    checkRefused();
  } else {
    frontend::Diagnostics diagnostics;
    std::optional<ir::Module> module = typed(diagnostics);
    if (!module) {
      fail(cases_.runs.front(), "compiler", report_);
      return failures_;
    }
    const std::vector<Case> cases = evaluateRuns(*module);
    if (cases.empty()) return failures_;
    if (const std::string errors = errorsOfPrinted(*module, true); !errors.empty())
      fail(cases_.runs.front(), "printed with types", errors);
    for (int level : {0, 1, 2, 3})
      if (!cases_.isOnce || level == 0 || level == 3) checkLevel(cases, level);
    checkCompiled(cases);
    if (!kIsCoarse) checkFixedExtents(cases);
    // An input that an entry refuses is no program error when it is built in.
    for (const Case& one : cases)
      if (!one.run->fails && !cases_.isOnce) checkBuiltIn(one, &one == &cases.front());
  }
  return failures_;
}

/// Runs a program, or prints it and parses it again. Failures, each reported.
int check(const char* self, bool isPrinted, const std::string& name, const std::string& text) {
  if (!isPrinted) return ProgramRunner(self, name, text).run();
  const std::string found = printAndParse(name, text);
  if (found.empty()) return 0;
  std::fputs(fmt::format("{}: {}\n", name, found).c_str(), stderr);
  return 1;
}

}  // namespace
}  // namespace baton::run

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string mode = words.size() > 2 ? words[0] : "";
  if (mode == "--load") return baton::run::loadAndRun({words.begin() + 1, words.end()});
  const bool isPrinted = mode == "--print";
  const bool isRandom = isPrinted || mode == "--random";
  int failures = 0;
  if (isRandom) {
    const uint64_t first = std::strtoull(argv[2], nullptr, 10);
    const uint64_t end = first + std::strtoull(argv[3], nullptr, 10);
    for (uint64_t seed = first; seed < end; ++seed) {
      const std::string text = baton::run::randomProgram(seed);
      const int found = baton::run::check(argv[0], isPrinted, fmt::format("seed-{}", seed), text);
      if (found != 0) std::fputs(fmt::format("{}\nseed {} failed\n", text, seed).c_str(), stderr);
      failures += found;
    }
  }
  for (size_t i = isRandom ? 3 : 0; i < words.size(); ++i) {
    const baton::Result<std::string> text = baton::tools::readTextFile(words[i]);
    if (!text.has_value()) {
      std::fputs((text.assume_error().describe() + "\n").c_str(), stderr);
      return 2;
    }
    failures += baton::run::check(argv[0], isPrinted, words[i], text.assume_value());
  }
  return failures == 0 ? 0 : 1;
}

// run_program FILE..., run_program --random SEED COUNT: runs whole programs in every way there is and
// compares the results, bit for bit, with the evaluator's and with what the comments of the program expect.
// run_program --print SEED COUNT FILE...: prints programs and parses them again, which changes nothing.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

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
#include "equal_modules.h"
#include "formats/value_text.h"
#include "random_program.h"
#include "tests/effort.h"

namespace baton::run {
namespace {

/// A result as text, or an error.
struct Outcome {
  std::optional<TextValue> value;
  std::string error;
  ErrorCode code = ErrorCode::Internal;
};

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
    Outcome oracle;
  };

  std::optional<ir::Module> typed(frontend::Diagnostics& diagnostics);
  void checkRefused();
  /// Evaluates the program as it is written, which says what every other way must give.
  std::vector<Case> evaluateRuns(ir::Module& module);
  Result<std::vector<eval::Value>> inputsOf(ir::Module& module, ir::GlobalId entry, const Run& run) const;
  Outcome evaluate(ir::Module& module, ir::GlobalId entry, std::vector<eval::Value> inputs) const;
  void checkExpected(const Run& run, const Outcome& oracle);
  void checkSame(const Run& run, const std::string& where, const Outcome& oracle, const Outcome& other);
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

  /// The inputs of a run as values, in the order of the parameters.
  static std::vector<std::string> inputTexts(const ir::Module& module, const Run& run);
  /// Compiles and runs the executable, in every way there is.
  void checkCompiled(const std::vector<Case>& cases, const ir::Module& module);
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

Result<std::vector<eval::Value>> ProgramRunner::inputsOf(ir::Module& module, ir::GlobalId entry,
                                                         const Run& run) const {
  const ir::Function& function = module.function(entry);
  std::vector<eval::Value> inputs(function.params.size());
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    BATON_TRY_ASSIGN(NamedValue named, parseNamedValue(run.inputs[i]));
    size_t at = i;
    if (named.name) {
      const auto& names = function.entryNames;
      at = static_cast<size_t>(std::find(names.begin(), names.end(), *named.name) - names.begin());
    }
    if (at >= inputs.size())
      return Error(ErrorCode::InvalidArgument, fmt::format("no parameter for input {}", run.inputs[i]));
    BATON_TRY_ASSIGN(inputs[at], eval::fromText(module, function.var(function.params[at]).type, named.value));
  }
  for (const eval::Value& input : inputs)
    if (!input) return Error(ErrorCode::InvalidArgument, "an input is missing");
  return inputs;
}

Outcome ProgramRunner::evaluate(ir::Module& module, ir::GlobalId entry,
                                std::vector<eval::Value> inputs) const {
  eval::Evaluator evaluator(module, {.maxSteps = 200'000'000});
  Result<eval::Value> result = evaluator.call(entry, std::move(inputs));
  if (!result.has_value())
    return {std::nullopt, result.assume_error().describe(), result.assume_error().code()};
  return {eval::toText(module, module.function(entry).result, result.assume_value()), {}, {}};
}

bool isClose(const TextValue& found, const TextValue& expected, double tolerance) {
  std::vector<std::pair<const TextValue*, const TextValue*>> work{{&found, &expected}};
  while (!work.empty()) {
    const auto [a, b] = work.back();
    work.pop_back();
    if (a->kind() != b->kind() || a->name() != b->name() || a->children().size() != b->children().size())
      return false;
    for (size_t i = 0; i < a->children().size(); ++i) work.emplace_back(&a->children()[i], &b->children()[i]);
    if (!a->isTensor()) continue;
    const Array& x = a->tensor();
    const Array& y = b->tensor();
    if (x.dtype != y.dtype || x.shape != y.shape) return false;
    const size_t size = static_cast<size_t>(sizeBytes(x.dtype));
    auto at = [&](const Array& array, size_t i) {
      return scalarFromBits<double>(
          convertScalar(loadScalar(array.bytes.data() + i, array.dtype), array.dtype, DType::F64));
    };
    double largest = 0;
    for (size_t i = 0; i < y.bytes.size(); i += size)
      if (std::isfinite(at(y, i))) largest = std::max(largest, std::abs(at(y, i)));
    for (size_t i = 0; i < y.bytes.size(); i += size) {
      const double u = at(x, i);
      const double v = at(y, i);
      // states: Two NaNs count as equal.
      if (std::isnan(u) && std::isnan(v)) continue;
      if (u == v) continue;
      if (!(std::abs(u - v) <= tolerance * largest)) return false;
    }
  }
  return true;
}

void ProgramRunner::checkExpected(const Run& run, const Outcome& oracle) {
  if (run.agrees) {
    const bool isFine =
        oracle.value || oracle.code == ErrorCode::ProgramError || oracle.code == ErrorCode::LimitReached;
    if (!isFine) fail(run, "evaluator", oracle.error);
    return;
  }
  if (run.fails) {
    if (oracle.value)
      fail(run, "evaluator", fmt::format("expected a failure, found {}", formatValue(*oracle.value)));
    else if (oracle.code != ErrorCode::ProgramError && oracle.code != ErrorCode::InvalidArgument)
      fail(run, "evaluator", fmt::format("expected a program error, found {}", oracle.error));
    else if (oracle.error.find(run.message) == std::string::npos)
      fail(run, "evaluator", fmt::format("expected an error with '{}', found {}", run.message, oracle.error));
    return;
  }
  if (!oracle.value) {
    fail(run, "evaluator", oracle.error);
    return;
  }
  Result<TextValue> expected = parseValue(run.expected);
  if (!expected.has_value()) {
    fail(run, "expected value", expected.assume_error().message());
    return;
  }
  const bool fits = run.tolerance == 0 ? *oracle.value == expected.assume_value()
                                       : isClose(*oracle.value, expected.assume_value(), run.tolerance);
  if (!fits)
    fail(run, "evaluator",
         fmt::format("expected {}, found {}", formatValue(expected.assume_value()),
                     formatValue(*oracle.value)));
}

// states: The same whether an operation is folded by the compiler, run by the evaluator, interpreted or
// compiled, at every optimisation level and on every CPU: results are equal bit for bit.
void ProgramRunner::checkSame(const Run& run, const std::string& where, const Outcome& oracle,
                              const Outcome& other) {
  if (!oracle.value) {
    // states: Where the evaluator gives a value, every level gives that value; where it fails, a level fails
    // too, or gives a value if only what does not matter failed.
    const bool matters = run.fails;  // what a program says that fails
    if (matters && other.value)
      fail(
          run, where,
          fmt::format("the evaluator failed with {}; found {}", oracle.error, formatValue(*other.value, 64)));
    if (!other.value && other.code != oracle.code && other.code != ErrorCode::ProgramError)
      fail(run, where, fmt::format("the evaluator failed with {}; found {}", oracle.error, other.error));
    // Arguments are refused with the same words everywhere; extents in data that are numbers already where
    // the value is made, which knows of no argument.
    const bool areRefused = !other.value && oracle.code == ErrorCode::InvalidArgument &&
                            other.code == ErrorCode::InvalidArgument &&
                            oracle.error.find(" bound ") != std::string::npos;
    if (areRefused && other.error != oracle.error)
      fail(run, where, fmt::format("the evaluator failed with {}; found {}", oracle.error, other.error));
    return;
  }
  if (!other.value)
    fail(run, where, fmt::format("expected {}, found {}", formatValue(*oracle.value, 64), other.error));
  else if (!(*other.value == *oracle.value))
    fail(run, where,
         fmt::format("expected {}, found {}", formatValue(*oracle.value, 64), formatValue(*other.value, 64)));
}

void ProgramRunner::checkLevel(const std::vector<Case>& cases, int level) {
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  std::vector<Evaluated> runs;
  for (const Case& one : cases)
    runs.push_back({&one, one.run->entry,
                    inputsOf(*module, *module->findFunction(one.run->entry), *one.run).assume_value()});
  checkPasses(*module, level, fmt::format("-O{}", level), std::move(runs));
}

/// What a compiled program gave as text.
Outcome outcomeOf(Result<std::string> result) {
  if (!result.has_value())
    return {std::nullopt, result.assume_error().describe(), result.assume_error().code()};
  Result<TextValue> value = parseValue(result.assume_value());
  if (!value.has_value())
    return {std::nullopt, "unreadable result: " + result.assume_value(), ErrorCode::Internal};
  return {std::move(value).assume_value(), {}, {}};
}

void ProgramRunner::checkBuiltIn(const Case& one, bool isCompiled) {
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  const ir::GlobalId entry = *module->findFunction(one.run->entry);
  const std::vector<eval::Value> inputs = inputsOf(*module, entry, *one.run).assume_value();
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
  checkSame(*one.run, prefix + ", in a new process", one.oracle,
            outcomeOf(runInNewProcess(self_, compiled.assume_value(), name, {})));
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
    std::vector<eval::Value> inputs = inputsOf(*module, entry, run).assume_value();
    const std::optional<ir::GlobalId> fixed = fixExtents(*module, entry, inputs);
    if (fixed) runs.push_back({&one, module->function(*fixed).name, std::move(inputs)});
  }
  if (runs.empty()) return;
  std::vector<std::vector<std::string>> texts;
  for (const Evaluated& one : runs) texts.push_back(inputTexts(*module, *one.one->run));
  const int before = failures_;
  checkPasses(*module, 3, prefix, runs);
  if (failures_ != before) return;
  const Result<CompiledProgram> compiled = compileOptimised(*module, 3);
  if (!compiled.has_value()) return fail(*runs.front().one->run, prefix, compiled.assume_error().describe());
  for (size_t i = 0; i < runs.size(); ++i)
    checkSame(*runs[i].one->run, prefix, runs[i].one->oracle,
              outcomeOf(runCompiled(compiled.assume_value(), runs[i].function, texts[i], {})));
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

/// What is printed is a program, with names bound where they are used. Types are found again as well
/// where no pass has found more than typing does.
std::string errorsOfPrinted(const ir::Module& module, bool isTyped) {
  ir::Module again;
  frontend::Diagnostics errors;
  // Without entries nothing but the text can be wrong.
  static_cast<void>(frontend::parseProgram("printed", ir::print(module, {.constants = true}), {},
                                           ops::OpRegistry::instance(), again, errors));
  if (!errors.hasErrors() && isTyped) types::inferTypes(again, errors);
  return errors.hasErrors() ? frontend::render(errors, again.sources) : std::string();
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
    checkSame(*one.one->run, at, one.one->oracle,
              evaluate(module, *module.findFunction(one.function), one.inputs));
    return failures_ != beforeThis;
  });
  if (failures_ != before) std::fputs(ir::print(module).c_str(), stderr);
}

std::vector<std::string> ProgramRunner::inputTexts(const ir::Module& module, const Run& run) {
  const ir::Function& function = module.function(*module.findFunction(run.entry));
  std::vector<std::string> inputs(function.params.size());
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    const NamedValue named = parseNamedValue(run.inputs[i]).assume_value();
    const auto& names = function.entryNames;
    const size_t at =
        named.name ? static_cast<size_t>(std::find(names.begin(), names.end(), *named.name) - names.begin())
                   : i;
    inputs[at] = formatValue(named.value);
  }
  return inputs;
}

void ProgramRunner::checkCompiled(const std::vector<Case>& cases, const ir::Module& module) {
  for (int level : {0, 1, 2, 3}) {
    if (cases_.isOnce && level != 0 && level != 3) continue;
    const Result<CompiledProgram> compiled = compileProgram(name_, text_, level, entries());
    const std::string where = fmt::format("compiled with -O{}", level);
    if (!compiled.has_value()) return fail(*cases.front().run, where, compiled.assume_error().describe());
    const CompiledProgram& program = compiled.assume_value();
    for (const Case& one : cases) {
      const Run& run = *one.run;
      auto check = [&](const std::string& how, const Outcome& found) {
        checkSame(run, how, one.oracle, found);
        if (run.fails && !found.value && found.code == ErrorCode::InvalidArgument &&
            found.error.find(run.message) == std::string::npos)
          fail(run, how, fmt::format("expected an error with '{}', found {}", run.message, found.error));
      };
      const std::vector<std::string> inputs = inputTexts(module, run);
      check(where, outcomeOf(runCompiled(program, run.entry, inputs, {})));
      if (level != 3) continue;
      check(where + ", kernels interpreted",
            outcomeOf(runCompiled(program, run.entry, inputs, {.interpretsKernels = true})));
      check(where + ", portable dispatch",
            outcomeOf(runCompiled(program, run.entry, inputs, {.usesSwitch = true})));
      if (!kIsCoarse || &one == &cases.front())
        check(where + ", in a new process", outcomeOf(runInNewProcess(self_, program, run.entry, inputs)));
    }
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
    Result<std::vector<eval::Value>> inputs = inputsOf(module, *entry, run);
    if (!inputs.has_value()) {
      fail(run, "inputs", inputs.assume_error().message());
      continue;
    }
    Outcome oracle = evaluate(module, *entry, std::move(inputs).assume_value());
    const int before = failures_;
    checkExpected(run, oracle);
    if (failures_ == before) cases.push_back({&run, std::move(oracle)});
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
    checkCompiled(cases, *module);
    if (!kIsCoarse) checkFixedExtents(cases);
    // An input that an entry refuses is no program error when it is built in.
    for (const Case& one : cases)
      if (!one.run->fails && !cases_.isOnce) checkBuiltIn(one, &one == &cases.front());
  }
  return failures_;
}

ir::Module parsed(const std::string& name, const std::string& text, frontend::Diagnostics& diagnostics) {
  ir::Module module;
  static_cast<void>(frontend::parseProgram(name, text, {}, ops::OpRegistry::instance(), module, diagnostics));
  return module;
}

/// What was found when a program was printed and parsed again; nothing where it has errors of its own.
std::string printAndParse(const std::string& name, const std::string& text) {
  frontend::Diagnostics diagnostics;
  const ir::Module module = parsed(name, text, diagnostics);
  if (diagnostics.hasErrors()) return {};
  const std::string printed = ir::print(module, {.constants = true});
  const ir::Module again = parsed("printed", printed, diagnostics);
  if (diagnostics.hasErrors()) return frontend::render(diagnostics, again.sources);
  const std::string found = difference(module, again);
  if (!found.empty()) return found + "\n" + printed;
  return ir::print(again, {.constants = true}) == printed ? std::string() : "printing changes\n" + printed;
}

/// Reports and counts the programs that change.
int checkPrinted(uint64_t first, uint64_t count, const std::vector<std::string>& files) {
  int failures = 0;
  auto check = [&](const std::string& name, const std::string& text) {
    const std::string found = printAndParse(name, text);
    if (found.empty()) return;
    ++failures;
    std::fputs(fmt::format("{}: {}\n", name, found).c_str(), stderr);
  };
  for (const std::string& name : files) {
    std::ifstream file(name);
    std::stringstream text;
    text << file.rdbuf();
    check(name, text.str());
  }
  for (uint64_t seed = first; seed < first + count; ++seed)
    check(fmt::format("seed-{}", seed), randomProgram(seed));
  return failures;
}

}  // namespace
}  // namespace baton::run

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--load")
    return baton::run::loadAndRun(std::vector<std::string>(argv + 2, argv + argc));
  int failures = 0;
  if (argc > 3 && std::string(argv[1]) == "--print") {
    failures = baton::run::checkPrinted(std::strtoull(argv[2], nullptr, 10),
                                        std::strtoull(argv[3], nullptr, 10), {argv + 4, argv + argc});
    return failures == 0 ? 0 : 1;
  }
  if (argc > 3 && std::string(argv[1]) == "--random") {
    const uint64_t first = std::strtoull(argv[2], nullptr, 10);
    const uint64_t count = std::strtoull(argv[3], nullptr, 10);
    for (uint64_t seed = first; seed < first + count; ++seed) {
      const std::string text = baton::run::randomProgram(seed);
      const int found = baton::run::ProgramRunner(argv[0], fmt::format("seed-{}", seed), text).run();
      if (found != 0) std::fputs(fmt::format("{}\nseed {} failed\n", text, seed).c_str(), stderr);
      failures += found;
    }
    return failures == 0 ? 0 : 1;
  }
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::stringstream text;
    text << file.rdbuf();
    if (!file) {
      std::fputs(fmt::format("cannot read {}\n", argv[i]).c_str(), stderr);
      return 2;
    }
    failures += baton::run::ProgramRunner(argv[0], argv[i], text.str()).run();
  }
  return failures == 0 ? 0 : 1;
}

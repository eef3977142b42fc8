// run_program FILE..., run_program --random SEED COUNT: runs whole programs in every way there is and
// compares the results, bit for bit, with the evaluator's and with what the comments of the program expect.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
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
#include "formats/value_text.h"
#include "random_program.h"

namespace baton::run {
namespace {

/// A result as text, or an error.
struct Outcome {
  std::optional<TextValue> value;
  std::string error;
  ErrorCode code = ErrorCode::Internal;
};

/// Looks at the module after every pass, until something is wrong.
class AfterEachPass final : public passes::Instrument {
 public:
  using Check = std::function<bool(const std::string& pass, ir::Module& module)>;
  explicit AfterEachPass(Check check) : check_(std::move(check)) {}
  Result<void> after(const passes::PipelineStep& step, ir::Module& module,
                     std::chrono::nanoseconds) override {
    if (check_(std::string(step.pass->name), module)) return success();
    hasFailed_ = true;
    return Error(ErrorCode::Internal, "a check after a pass failed");
  }
  bool hasFailed() const { return hasFailed_; }

 private:
  Check check_;
  bool hasFailed_ = false;
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
  std::optional<ir::Module> typed(frontend::Diagnostics& diagnostics) const;
  void checkRefused();
  void checkRun(const Run& run);
  Result<std::vector<eval::Value>> inputsOf(ir::Module& module, ir::GlobalId entry, const Run& run) const;
  Outcome evaluate(ir::Module& module, ir::GlobalId entry, std::vector<eval::Value> inputs) const;
  void checkExpected(const Run& run, const Outcome& oracle);
  void checkSame(const Run& run, const std::string& where, const Outcome& oracle, const Outcome& other);
  /// Runs the pipeline of the level, evaluating as it goes.
  void checkLevel(const Run& run, int level, bool isConstant, const Outcome& oracle);
  /// Prints, parses and evaluates what a pass left. False when something is wrong.
  bool checkModule(const Run& run, const std::string& at, ir::Module& module, const std::string& entryName,
                   const std::vector<eval::Value>& inputs, const Outcome& oracle);

  /// Compiles and runs the executable, in every way there is.
  void checkCompiled(const Run& run, const Outcome& oracle);
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
  std::map<int, Result<CompiledProgram>> compiled_;  // by level
  int failures_ = 0;
};

std::optional<ir::Module> ProgramRunner::typed(frontend::Diagnostics& diagnostics) const {
  ir::Module module;
  frontend::ParseOptions options;
  for (const Run& run : cases_.runs)
    if (run.entry != "main") options.entries.push_back(run.entry);
  frontend::parseProgram(name_, text_, options, ops::OpRegistry::instance(), module, diagnostics);
  if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
  if (diagnostics.hasErrors()) {
    const std::string report = frontend::render(diagnostics, module.sources);
    diagnostics.note({}, report);
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

void ProgramRunner::checkSame(const Run& run, const std::string& where, const Outcome& oracle,
                              const Outcome& other) {
  if (!oracle.value) {
    // Where the evaluator fails every level fails, or what failed was not used.
    if (!other.value && other.code != oracle.code && other.code != ErrorCode::ProgramError)
      fail(run, where, fmt::format("the evaluator failed with {}; found {}", oracle.error, other.error));
    return;
  }
  if (!other.value)
    fail(run, where, fmt::format("expected {}, found {}", formatValue(*oracle.value, 64), other.error));
  else if (!(*other.value == *oracle.value))
    fail(run, where,
         fmt::format("expected {}, found {}", formatValue(*oracle.value, 64), formatValue(*other.value, 64)));
}

void ProgramRunner::checkLevel(const Run& run, int level, bool isConstant, const Outcome& oracle) {
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  ir::GlobalId entry = *module->findFunction(run.entry);
  Result<std::vector<eval::Value>> parsed = inputsOf(*module, entry, run);
  std::vector<eval::Value> inputs = parsed.assume_value();
  std::string entryName = run.entry;
  if (isConstant) {
    Result<ir::GlobalId> built = buildInInputs(*module, entry, inputs);
    if (!built.has_value()) return;
    entryName = module->function(built.assume_value()).name;
    inputs.clear();
  }
  const std::string prefix = fmt::format("-O{}{}", level, isConstant ? ", inputs built in" : "");
  passes::PassContext context{.diagnostics = diagnostics};
  AfterEachPass check([&](const std::string& pass, ir::Module& now) -> bool {
    const std::string at = fmt::format("{}, after {}", prefix, pass);
    if (Result<void> verified = ir::verify(now); !verified.has_value()) {
      std::fputs(ir::print(now).c_str(), stderr);
      fail(run, at, verified.assume_error().message());
      return false;
    }
    if (cases_.isOnce) return true;
    return checkModule(run, at, now, entryName, inputs, oracle);
  });
  passes::Instrument* instruments[] = {&check};
  Result<void> result = passes::runPipeline(*module, passes::pipelineOf(level), context, instruments);
  if (check.hasFailed()) return;
  if (!result.has_value()) return fail(run, prefix, result.assume_error().describe());
  if (diagnostics.hasErrors()) return fail(run, prefix, frontend::render(diagnostics, module->sources));
  if (cases_.isOnce) checkModule(run, prefix, *module, entryName, inputs, oracle);
}

bool ProgramRunner::checkModule(const Run& run, const std::string& at, ir::Module& module,
                                const std::string& entryName, const std::vector<eval::Value>& inputs,
                                const Outcome& oracle) {
  // What is printed is a program: names are bound where they are used.
  ir::Module again;
  frontend::Diagnostics errors;
  frontend::parseProgram("printed", ir::print(module, {.constants = true}), {}, ops::OpRegistry::instance(),
                         again, errors);
  if (errors.hasErrors()) {
    fail(run, at + ", printed", frontend::render(errors, again.sources));
    return false;
  }
  const int before = failures_;
  checkSame(run, at, oracle, evaluate(module, *module.findFunction(entryName), inputs));
  if (failures_ == before) return true;
  std::fputs(ir::print(module).c_str(), stderr);
  return false;
}

void ProgramRunner::checkCompiled(const Run& run, const Outcome& oracle) {
  // Inputs as values, in the order of the parameters.
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  const ir::Function& function = module->function(*module->findFunction(run.entry));
  std::vector<std::string> inputs(function.params.size());
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    Result<NamedValue> named = parseNamedValue(run.inputs[i]);
    size_t at = i;
    if (named.assume_value().name) {
      const auto& names = function.entryNames;
      at = static_cast<size_t>(std::find(names.begin(), names.end(), *named.assume_value().name) -
                               names.begin());
    }
    inputs[at] = formatValue(named.assume_value().value);
  }
  auto outcome = [&](Result<std::string> result) -> Outcome {
    if (!result.has_value())
      return {std::nullopt, result.assume_error().describe(), result.assume_error().code()};
    Result<TextValue> value = parseValue(result.assume_value());
    if (!value.has_value())
      return {std::nullopt, "unreadable result: " + result.assume_value(), ErrorCode::Internal};
    return {std::move(value).assume_value(), {}, {}};
  };
  for (int level : {0, 1, 2, 3}) {
    if (cases_.isOnce && level != 0 && level != 3) continue;
    auto at = compiled_.find(level);
    if (at == compiled_.end())
      at = compiled_.emplace(level, compileProgram(name_, text_, level, entries())).first;
    const std::string where = fmt::format("compiled with -O{}", level);
    if (!at->second.has_value()) {
      fail(run, where, at->second.assume_error().describe());
      continue;
    }
    const CompiledProgram& program = at->second.assume_value();
    auto check = [&](const std::string& how, const Outcome& found) {
      checkSame(run, how, oracle, found);
      // What a program says that fails is used, so it fails in every form.
      if (run.fails && found.value)
        fail(run, how, fmt::format("expected a failure, found {}", formatValue(*found.value, 64)));
      if (run.fails && !found.value && found.code == ErrorCode::InvalidArgument &&
          found.error.find(run.message) == std::string::npos)
        fail(run, how, fmt::format("expected an error with '{}', found {}", run.message, found.error));
    };
    check(where, outcome(runCompiled(program, run.entry, inputs, false)));
    if (level != 3) continue;
    check(where + ", kernels interpreted", outcome(runCompiled(program, run.entry, inputs, true)));
    check(where + ", in a new process", outcome(runInNewProcess(self_, program, run.entry, inputs)));
  }
}

void ProgramRunner::checkRun(const Run& run) {
  frontend::Diagnostics diagnostics;
  std::optional<ir::Module> module = typed(diagnostics);
  if (!module) return fail(run, "compiler", diagnostics.items().back().message);
  const std::optional<ir::GlobalId> entry = module->findFunction(run.entry);
  if (!entry) return fail(run, "compiler", fmt::format("no function @{}", run.entry));
  Result<std::vector<eval::Value>> inputs = inputsOf(*module, *entry, run);
  if (!inputs.has_value()) return fail(run, "inputs", inputs.assume_error().message());
  const Outcome oracle = evaluate(*module, *entry, inputs.assume_value());
  const int before = failures_;
  checkExpected(run, oracle);
  if (failures_ != before) return;
  for (int level : {0, 1, 2, 3})
    if (!cases_.isOnce || level == 0 || level == 3) checkLevel(run, level, false, oracle);
  checkCompiled(run, oracle);
  // An input that an entry refuses is no program error when it is built in.
  if (!run.fails && !cases_.isOnce) checkLevel(run, 3, true, oracle);
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
    report = diagnostics.items().back().message;
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
  if (!cases_.compileErrors.empty()) {
    checkRefused();
  } else {
    for (const Run& run : cases_.runs) checkRun(run);
  }
  return failures_;
}

}  // namespace
}  // namespace baton::run

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--load")
    return baton::run::loadAndRun(std::vector<std::string>(argv + 2, argv + argc));
  int failures = 0;
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

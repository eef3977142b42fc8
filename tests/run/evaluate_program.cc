// evaluate_program: calls a function of a program in the evaluator, which knows no bytecode and no
// kernels, with inputs as vm-run takes them, and writes what vm-run writes.

#include <algorithm>

#include <fmt/format.h>

#include "compiler/driver/bind_params.h"
#include "compiler/eval/evaluator.h"
#include "compiler/eval/text.h"
#include "compiler/frontend/parser.h"
#include "compiler/types/typing.h"
#include "formats/npz.h"
#include "formats/value_text.h"
#include "tools/cli/command.h"
#include "tools/cli/file.h"

namespace baton::run {
namespace {

struct Options {
  std::string source;
  std::string params;
  std::string function = "main";
  std::vector<std::string> inputs;
  std::string inputsNpz;
  std::vector<std::string> outputs;
  std::string outputsNpz;
};

Result<ir::Module> typedModule(const Options& options) {
  ir::Module module;
  frontend::Diagnostics diagnostics;
  BATON_TRY_ASSIGN(std::string text, tools::readTextFile(options.source));
  frontend::ParseOptions parse;
  parse.entries = {options.function};
  BATON_TRY(frontend::parseProgram(options.source, std::move(text), parse, ops::OpRegistry::instance(),
                                   module, diagnostics));
  if (!options.params.empty() && !diagnostics.hasErrors()) {
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, tools::readFile(options.params));
    const driver::Params params{options.params, bytes};
    BATON_TRY(driver::bindParams({&params, 1}, module, diagnostics));
  }
  if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
  if (diagnostics.hasErrors())
    return Error(ErrorCode::CompileError, frontend::render(diagnostics, module.sources));
  return module;
}

Result<std::vector<eval::Value>> makeInputs(ir::Module& module, const ir::Function& function,
                                            const Options& options) {
  std::vector<NamedValue> given;
  for (const std::string& text : options.inputs) {
    BATON_TRY_ASSIGN(NamedValue value, parseNamedValue(text, tools::readFile));
    given.push_back(std::move(value));
  }
  if (!options.inputsNpz.empty()) {
    BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, tools::readFile(options.inputsNpz));
    BATON_TRY_ASSIGN(std::vector<NpzEntry> entries, readNpz(bytes));
    for (NpzEntry& entry : entries)
      given.push_back({std::move(entry.name), TextValue::tensor(std::move(entry.array))});
  }
  const std::vector<std::string>& names = function.entryNames;
  std::vector<eval::Value> inputs(function.params.size());
  size_t next = 0;
  for (const NamedValue& value : given) {
    while (!value.name && next < inputs.size() && inputs[next]) ++next;
    const size_t index =
        value.name ? static_cast<size_t>(std::find(names.begin(), names.end(), *value.name) - names.begin())
                   : next;
    if (index >= inputs.size())
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("no parameter for input {}", value.name.value_or(std::to_string(index))));
    BATON_TRY_ASSIGN(inputs[index],
                     eval::fromText(module, function.var(function.params[index]).type, value.value));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i])
      return Error(ErrorCode::InvalidArgument, fmt::format("parameter %{} has no value", names[i]));
  return inputs;
}

Result<void> writeOutputs(TextValue result, const Options& options) {
  std::vector<TextValue> results;
  if (result.kind() == TextValue::Kind::Tuple)
    results = std::move(result.mutableChildren());
  else
    results.push_back(std::move(result));
  if (options.outputs.size() > results.size())
    return Error(ErrorCode::InvalidArgument, fmt::format("there are {} results", results.size()));
  for (size_t i = 0; i < options.outputs.size(); ++i) {
    if (options.outputs[i] != "-")
      return Error(ErrorCode::InvalidArgument, fmt::format("--output {}: expected -", options.outputs[i]));
    fmt::print("{}\n", formatValue(results[i]));
  }
  if (options.outputsNpz.empty()) return success();
  std::vector<NpzEntry> entries;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].isTensor())
      return Error(ErrorCode::InvalidArgument, fmt::format("output_{} is no tensor", i));
    entries.push_back({fmt::format("output_{}", i), std::move(results[i].tensor())});
  }
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, writeNpz(entries));
  return tools::writeFile(options.outputsNpz, bytes);
}

Result<int> evaluate(const Options& options) {
  BATON_TRY_ASSIGN(ir::Module module, typedModule(options));
  const std::optional<ir::GlobalId> entry = module.findFunction(options.function);
  if (!entry)
    return Error(ErrorCode::InvalidArgument, fmt::format("there is no function @{}", options.function));
  BATON_TRY_ASSIGN(std::vector<eval::Value> inputs, makeInputs(module, module.function(*entry), options));
  eval::Evaluator evaluator(module, {});
  BATON_TRY_ASSIGN(const eval::Value result, evaluator.call(*entry, std::move(inputs)));
  BATON_TRY(writeOutputs(eval::toText(module, module.function(*entry).result, result), options));
  return 0;
}

}  // namespace
}  // namespace baton::run

int main(int argc, char** argv) {
  baton::run::Options options;
  baton::tools::Command command(
      "evaluate_program", "evaluates a function of a program",
      "  evaluate_program model.relay --params weights.npz --input x=@x.npy --outputs-npz out.npz\n");
  CLI::App& app = command.app();
  app.add_option("source", options.source, "program text")->required();
  app.add_option("--params", options.params, "weights by name");
  app.add_option("--function", options.function, "the function to call");
  command.addRepeatable("--input", options.inputs, "VALUE or NAME=VALUE, as vm-run has it");
  app.add_option("--inputs-npz", options.inputsNpz, "inputs by name");
  command.addRepeatable("--output", options.outputs, "-, for each of the first results");
  app.add_option("--outputs-npz", options.outputsNpz, "all results as output_0, output_1, ...");
  return command.run(argc, argv, [&] { return baton::run::evaluate(options); });
}

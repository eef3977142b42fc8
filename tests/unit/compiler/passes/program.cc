#include "program.h"

#include <catch2/catch.hpp>

#include "compiler/eval/evaluator.h"
#include "compiler/eval/text.h"
#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/verifier.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/types/typing.h"
#include "formats/value_text.h"

namespace baton::passes {

Program::Program(std::string_view text) {
  REQUIRE(frontend::parseProgram("test.relay", std::string(text), {}, ops::OpRegistry::instance(), module,
                                 diagnostics)
              .has_value());
  if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
  INFO(frontend::render(diagnostics, module.sources));
  REQUIRE(!diagnostics.hasErrors());
}

std::string Program::runWithErrors(std::initializer_list<std::string_view> passes) {
  PassContext context{.diagnostics = diagnostics};
  std::string names;
  for (std::string_view pass : passes) names += (names.empty() ? "" : ", ") + std::string(pass);
  Result<Pipeline> pipeline = parsePipeline(names);
  INFO((pipeline.has_value() ? "" : pipeline.assume_error().message()));
  REQUIRE(pipeline.has_value());
  // Tests run passes one by one, so what a pass requires is theirs to see to.
  for (const PipelineStep& step : pipeline.assume_value()) {
    Result<void> result =
        step.pass == nullptr ? runPipeline(module, {step}, context) : runPass(module, step, context);
    INFO((step.pass == nullptr ? "repeat" : step.pass->name)
         << ": " << (result.has_value() ? "" : result.assume_error().describe()));
    REQUIRE(result.has_value());
    if (diagnostics.hasErrors()) break;
  }
  return frontend::render(diagnostics, module.sources);
}

Program& Program::run(std::initializer_list<std::string_view> passes) {
  const std::string errors = runWithErrors(passes);
  INFO(errors);
  REQUIRE(!diagnostics.hasErrors());
  return *this;
}

std::string Program::text() const { return ir::print(module, {.types = false}); }

std::string Program::text(std::string_view name) const {
  return ir::print(module, function(name), {.types = false});
}

const ir::Function& Program::function(std::string_view name) const {
  const std::optional<ir::GlobalId> id = module.findFunction(name);
  INFO("no function @" << name << " in\n" << text());
  REQUIRE(id.has_value());
  return module.function(*id);
}

std::string Program::evaluate(const std::vector<std::string>& inputs) {
  const ir::GlobalId entry = *module.findFunction("main");
  std::vector<eval::Value> values;
  const std::vector<ir::VarId> params = module.function(entry).params;
  REQUIRE(params.size() == inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    Result<TextValue> text = parseValue(inputs[i]);
    INFO(inputs[i]);
    REQUIRE(text.has_value());
    Result<eval::Value> value =
        eval::fromText(module, module.function(entry).var(params[i]).type, text.assume_value());
    REQUIRE(value.has_value());
    values.push_back(std::move(value).assume_value());
  }
  eval::Evaluator evaluator(module, {.maxSteps = 10'000'000});
  Result<eval::Value> result = evaluator.call(entry, std::move(values));
  if (!result.has_value()) {
    INFO(result.assume_error().describe());
    CHECK(result.assume_error().code() == ErrorCode::ProgramError);
    return "error";
  }
  return formatValue(eval::toText(module, module.function(entry).result, result.assume_value()));
}

Program checkSame(std::string_view text, std::initializer_list<std::string_view> passes,
                  const std::vector<std::vector<std::string>>& runs) {
  Program before(text);
  Program after(text);
  for (std::string_view pass : passes) {
    after.run({pass});
    Result<void> verified = ir::verify(after.module);
    INFO("after " << pass << ": " << (verified.has_value() ? "" : verified.assume_error().message()) << "\n"
                  << after.text());
    REQUIRE(verified.has_value());
  }
  INFO(after.text());
  for (const std::vector<std::string>& inputs : runs)
    CHECK(after.evaluate(inputs) == before.evaluate(inputs));
  return after;
}

template <class T>
std::vector<const ir::Binding*> bindingsOf(const ir::Function& function) {
  std::vector<const ir::Binding*> found;
  for (ir::BlockId id : ir::blocksInOrder(function, function.body))
    for (const ir::Binding& binding : function.block(id).bindings)
      if (std::holds_alternative<T>(binding.rhs)) found.push_back(&binding);
  return found;
}
template std::vector<const ir::Binding*> bindingsOf<ir::AtomRhs>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::CallOp>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::CallGlobal>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::CallValue>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::CallJoin>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::Construct>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::MakeTuple>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::Project>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::If>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::Match>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::Lambda>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::NestedBlock>(const ir::Function&);
template std::vector<const ir::Binding*> bindingsOf<ir::WriteRef>(const ir::Function&);

size_t occurrences(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace baton::passes

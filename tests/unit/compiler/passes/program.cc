#include "program.h"

#include <catch2/catch.hpp>

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/pass_manager.h"
#include "compiler/types/typing.h"

namespace baton::passes {

Program::Program(std::string_view text) {
  frontend::parseProgram("test.relay", std::string(text), {}, ops::OpRegistry::instance(), module,
                         diagnostics);
  if (!diagnostics.hasErrors()) types::inferTypes(module, diagnostics);
  INFO(frontend::render(diagnostics, module.sources));
  REQUIRE(!diagnostics.hasErrors());
}

std::string Program::runWithErrors(std::initializer_list<std::string_view> passes) {
  PassContext context{.diagnostics = diagnostics};
  std::vector<std::string> names(passes.begin(), passes.end());
  Result<Pipeline> pipeline = pipelineFromNames(names);
  REQUIRE(pipeline.has_value());
  // Tests run passes one by one, so what a pass requires is theirs to see to.
  for (const PassInfo* pass : pipeline.assume_value()) {
    Result<void> result = pass->run(module, context);
    INFO(pass->name << ": " << (result.has_value() ? "" : result.assume_error().describe()));
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

#include "printed_program.h"

#include "compiler/frontend/parser.h"
#include "compiler/ir/printer.h"
#include "compiler/types/typing.h"
#include "equal_modules.h"

namespace baton::run {
namespace {

ir::Module parsed(const std::string& name, const std::string& text, frontend::Diagnostics& diagnostics) {
  ir::Module module;
  // Without entries nothing but the text can be wrong.
  static_cast<void>(frontend::parseProgram(name, text, {}, ops::OpRegistry::instance(), module, diagnostics));
  return module;
}

}  // namespace

std::string errorsOfPrinted(const ir::Module& module, bool isTyped) {
  frontend::Diagnostics errors;
  ir::Module again = parsed("printed", ir::print(module, {.constants = true}), errors);
  if (!errors.hasErrors() && isTyped) types::inferTypes(again, errors);
  return errors.hasErrors() ? frontend::render(errors, again.sources) : std::string();
}

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

}  // namespace baton::run

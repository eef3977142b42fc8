#include "printed_program.h"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/frontend/parser.h"
#include "compiler/ir/attr_dims.h"
#include "compiler/ir/printer.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"
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

/// Whether an attribute holds an extent that depends on an element of a tensor. Text names extents only, so
/// nothing in it says what that is.
bool dependsOnElements(const ir::Function& function) {
  std::set<DimSymbol> extents;
  std::vector<DimSymbol> elements;
  for (const ir::VarInfo& var : function.vars) {
    if (var.type != nullptr)
      ir::forEachBoundSymbol(var.type, [&](DimSymbol symbol) { extents.insert(symbol); });
    for (const DimExpr& element : var.valueDims.value_or(std::vector<DimExpr>()))
      element.collectSymbols(elements);
  }
  std::vector<DimSymbol> used;
  for (const ir::BlockId block : ir::blocksInOrder(function, function.body))
    for (const ir::Binding& binding : function.block(block).bindings)
      if (const ir::CallOp* call = std::get_if<ir::CallOp>(&binding.rhs))
        ir::forEachDim(call->attrs, [&](const DimExpr& dim) { dim.collectSymbols(used); });
  return std::any_of(used.begin(), used.end(), [&](DimSymbol symbol) {
    return !extents.contains(symbol) && std::find(elements.begin(), elements.end(), symbol) != elements.end();
  });
}

}  // namespace

std::string errorsOfPrinted(const ir::Module& module, bool isTyped) {
  if (std::any_of(module.functions.begin(), module.functions.end(), dependsOnElements)) return {};
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

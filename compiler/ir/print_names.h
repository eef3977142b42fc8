// Names for printing: every variable and every dim symbol of a function gets one of its
// own, its hint where that is free.
#pragma once

#include <string>
#include <unordered_map>

#include "compiler/ir/ir.h"
#include "compiler/ir/unique_names.h"

namespace baton::ir {

class PrintNames {
 public:
  explicit PrintNames(const Module& module) : module_(&module) {}

  /// Names all variables of a function, in order of their definition.
  void nameVariables(const Function& function);
  const std::string& of(VarId var) const { return vars_.at(var.value()); }
  /// Another name for a variable that `%n = ` was to bind, for a `let`.
  void giveName(VarId var);
  /// Bound by '%n = ', not by let.
  bool isNumbered(VarId var) const { return numbered_.at(var.value()); }
  std::string of(DimSymbol symbol);

  /// Names of dims that a reader of the text knows: those that are whole extents of what was
  /// bound in the open scopes, as the parser sees it.
  void enterScope() { scopes_.push_back(bound_.size()); }
  void leaveScope();
  void bindDims(TypeRef type);
  bool isBound(DimSymbol symbol) const;
  bool isBound(const DimExpr& dim) const;

 private:
  const Module* module_;
  std::vector<std::string> vars_;
  std::vector<bool> numbered_;
  UniqueNames varNames_;
  std::unordered_map<DimSymbol, std::string> symbols_;
  UniqueNames dimNames_;
  std::vector<DimSymbol> bound_;                      // in order
  std::unordered_map<DimSymbol, size_t> boundCount_;  // how often they are there
  std::vector<size_t> scopes_;                        // where each begins
};

}  // namespace baton::ir

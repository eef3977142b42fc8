// Names for printing: every variable and every dim symbol of a function gets one of its
// own, its hint where that is free.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "compiler/ir/ir.h"

namespace baton::ir {

class PrintNames {
 public:
  explicit PrintNames(const Module& module) : module_(&module) {}

  /// Names all variables of a function, in order of their definition.
  void nameVariables(const Function& function);
  const std::string& of(VarId var) const { return vars_.at(var.value()); }
  /// Bound by '%n = ', not by let.
  bool isNumbered(VarId var) const { return numbered_.at(var.value()); }
  std::string of(DimSymbol symbol);

 private:
  const Module* module_;
  std::vector<std::string> vars_;
  std::vector<bool> numbered_;
  std::unordered_map<DimSymbol, std::string> symbols_;
  std::unordered_set<std::string> takenSymbols_;
};

}  // namespace baton::ir

// What local functions use from outside.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/ir/free_variables.h"
#include "compiler/ir/ir.h"
#include "compiler/passes/local_functions.h"

namespace baton::passes {

/// Captures of the local functions of one function: variables, and for an extent that none
/// of them and no parameter has, the variable that has it.
class Captures {
 public:
  Captures(const ir::Function& function, const LocalFunctions& locals);

  /// In order of first use. `expand` gives the captures of a function that is called and is
  /// to count as its captures; null for a variable that is captured itself.
  std::vector<ir::VarId> of(const LocalFunction& local,
                            const std::function<const std::vector<ir::VarId>*(ir::VarId)>& expand) const;
  const ir::FreeVariables& freeVariables() const { return free_; }

 private:
  /// A symbol that a local function uses, and the first variable in scope there that has it as
  /// a whole extent or element; that one is bound outside.
  struct FreeSymbol {
    DimSymbol symbol;
    ir::VarId binder;
  };
  void findSymbols();
  std::optional<ir::VarId> binderOf(DimSymbol symbol, const LocalFunction& local) const;

  const ir::Function& function_;
  const LocalFunctions& locals_;
  ir::FreeVariables free_;
  /// Variables with the block that binds them, in program order.
  std::unordered_map<DimSymbol, std::vector<std::pair<ir::VarId, ir::BlockId>>> binders_;
  std::unordered_map<ir::BlockId, std::vector<FreeSymbol>> symbols_;  // by body, in order of appearance
};

}  // namespace baton::passes

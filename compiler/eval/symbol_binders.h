// Which variable gives a symbol its value: the first in scope order whose type has it as a
// plain extent, or whose elements are tied to it.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::eval {

class SymbolBinders {
 public:
  /// Which symbols are in scope where local functions are made is kept on request: that may
  /// be as many as the function has, for each.
  explicit SymbolBinders(const ir::Function& function, bool keepsScopes = false);

  /// Symbols that this variable gives values to, in order.
  const std::vector<DimSymbol>& boundBy(ir::VarId var) const;
  /// How many variables, in scopes apart, do so for the symbol; 0 when nothing does.
  uint32_t count(DimSymbol symbol) const;
  /// Symbols in scope where a local function (that is no join) is made, by its body. Kept ones only.
  const std::vector<DimSymbol>& inScopeOf(ir::BlockId lambdaBody) const;

 private:
  std::unordered_map<ir::VarId, std::vector<DimSymbol>> bound_;
  std::unordered_map<DimSymbol, uint32_t> counts_;
  std::unordered_map<ir::BlockId, std::vector<DimSymbol>> scopes_;
  const std::vector<DimSymbol> nothing_;
};

/// Symbols that are plain own extents or plain elements of the variable, in order.
void forEachPlainSymbol(const ir::VarInfo& info, const std::function<void(DimSymbol)>& f);

}  // namespace baton::eval

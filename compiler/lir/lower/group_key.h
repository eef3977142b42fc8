// A fused group as a key: equal for groups that need the same kernel, whatever their
// variables, symbols and constants are called.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::lir {

struct GroupKey {
  std::string text;
  std::vector<DimSymbol> symbols;  ///< in order of appearance
};
GroupKey groupKey(const ir::Module& module, const ir::Function& group);

/// Replaces symbols by their numbers in that order.
DimExpr numbered(const DimExpr& expr, const std::vector<DimSymbol>& symbols);

}  // namespace baton::lir

// Where the variables of a function are bound, so that it can be told whether one is in
// scope where another is bound.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace baton::types {

class DimScope {
 public:
  explicit DimScope(const ir::Function& function);

  /// Whether `var` is in scope at the right-hand side of (or, for a parameter, at the
  /// head of the block of) `at`.
  bool isInScope(ir::VarId var, ir::VarId at) const;
  /// Blocks that run whenever the function does: its body and blocks nested there as values.
  bool isUnconditional(ir::BlockId block) const { return isUnconditional_[block.value()]; }
  ir::BlockId homeOf(ir::VarId var) const { return homes_[var.value()]; }

 private:
  std::vector<ir::BlockId> homes_;  // by variable
  std::vector<uint32_t> order_;     // by variable, in program order
  std::vector<uint32_t> enter_;     // by block
  std::vector<uint32_t> leave_;
  std::vector<bool> isUnconditional_;
};

}  // namespace baton::types

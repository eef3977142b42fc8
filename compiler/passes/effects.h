// What may be left out, and what must not run where it did not: effects of right-hand
// sides. Only cells have effects; everything else may at most fail or not end.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

class Effects {
 public:
  explicit Effects(const ir::Module& module);

  /// Whether running the block may write a cell, by block. Making a function does not run it.
  std::vector<bool> blockWrites(const ir::Function& function) const;
  /// The same for a right-hand side, from what `blockWrites` said of the blocks inside it.
  bool writes(const ir::Rhs& rhs, const std::vector<bool>& blockWrites) const;

 private:
  bool writesItself(const ir::Rhs& rhs) const;

  std::vector<bool> functionWrites_;  ///< whether calling it may write a cell, by function
  bool moduleWrites_ = false;         ///< whether any function, local ones included, does
};

/// Whether the binding can end in a program error by itself, blocks inside it aside: by an
/// obligation, or by what its operator or array operation does with values.
bool canFail(const ir::Function& function, const ir::Binding& binding);

}  // namespace baton::passes

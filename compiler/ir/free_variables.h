// What local functions use from outside: all of them in one walk, since a variable that is
// used deep inside is free in everything around it up to where it is bound.
#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::ir {

/// Free variables of the local functions of a function, joins aside (they belong to the local
/// function that they are in). Valid until the function changes.
class FreeVariables {
 public:
  explicit FreeVariables(const Function& function);

  /// In order of first use; its own variable, too, where the local function calls itself.
  const std::vector<VarId>& of(const Lambda& lambda) const { return free_.at(lambda.body); }

 private:
  std::unordered_map<BlockId, std::vector<VarId>> free_;  // by body
};

}  // namespace baton::ir

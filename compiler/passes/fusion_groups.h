// Which operators of one block go into one kernel.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/ir.h"

namespace baton::passes {

/// A use of a variable, as the block that binds it sees it.
struct VariableUse {
  uint32_t position;  ///< binding of that block that uses it, or holds a block that does
  bool isDirect;      ///< as an operand of that binding
};
inline constexpr uint32_t kUsedByResult = UINT32_MAX;

/// Uses of all variables of a function, by variable.
std::vector<std::vector<VariableUse>> variableUses(const ir::Function& function);

struct FusionGroup {
  std::vector<uint32_t> members;   ///< bindings of the block, ascending
  std::vector<ir::VarId> outputs;  ///< in order of their bindings
};

/// Groups of at least two operators, in the order of their last members. Each group can
/// stand where its last member stands, if all the others do, too. `excluded` bindings are
/// left alone.
std::vector<FusionGroup> findGroups(ir::Module& module, const ir::Function& function, ir::BlockId block,
                                    const std::vector<std::vector<VariableUse>>& uses,
                                    const eval::SymbolBinders& binders,
                                    const std::unordered_set<uint32_t>& excluded, size_t maxOps);

}  // namespace baton::passes

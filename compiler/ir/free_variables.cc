#include "compiler/ir/free_variables.h"

#include <unordered_set>

#include "compiler/ir/walk.h"

namespace baton::ir {

FreeVariables::FreeVariables(const Function& function) {
  struct Open {
    BlockId body;
    std::unordered_set<VarId> seen;
  };
  std::vector<Open> open;  // local functions around, innermost last
  // By variable: how many of those there are where it is bound.
  std::vector<uint32_t> level(function.vars.size(), 0);
  auto bind = [&](VarId var) { level[var.value()] = static_cast<uint32_t>(open.size()); };
  auto use = [&](VarId var) {
    // What is free in an inner one is known to be free in those around it.
    for (size_t i = open.size(); i > level[var.value()]; --i) {
      if (!open[i - 1].seen.insert(var).second) break;
      free_[open[i - 1].body].push_back(var);
    }
  };
  auto useAtom = [&](const Atom& atom) {
    if (atom.isVar()) use(atom.var());
  };
  auto functionOf = [&](BlockId block, size_t index) {
    const Lambda* lambda = std::get_if<Lambda>(&function.block(block).bindings[index].rhs);
    return lambda != nullptr && !lambda->isJoin ? lambda : nullptr;
  };
  WalkCallbacks callbacks;
  callbacks.enterBinding = [&](BlockId block, size_t index) {
    const Binding& binding = function.block(block).bindings[index];
    bind(binding.var);
    forEachOperand(binding.rhs, useAtom);
    if (const CallJoin* jump = std::get_if<CallJoin>(&binding.rhs)) use(jump->join);
    return true;
  };
  callbacks.enterChild = [&](BlockId block, size_t index, size_t child, BlockId childBlock) {
    const Rhs& rhs = function.block(block).bindings[index].rhs;
    if (functionOf(block, index) != nullptr) {
      open.push_back({childBlock, {}});
      free_.try_emplace(childBlock);
    }
    if (const Lambda* lambda = std::get_if<Lambda>(&rhs)) {
      for (VarId param : lambda->params) bind(param);
    } else if (const Match* match = std::get_if<Match>(&rhs)) {
      forEachPatternVar(function, match->clauses[child].pattern, bind);
    }
  };
  callbacks.leaveBinding = [&](BlockId block, size_t index) {
    if (functionOf(block, index) != nullptr) open.pop_back();
  };
  callbacks.leaveBlock = [&](BlockId block) { useAtom(function.block(block).result); };
  walk(function, function.body, callbacks);
}

}  // namespace baton::ir

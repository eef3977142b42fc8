#include "compiler/passes/loops.h"

#include <algorithm>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"

namespace baton::passes {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

Loops::Loops(const ir::Function& function)
    : function_(function),
      enter_(function.blocks.size(), UINT32_MAX),
      leave_(function.blocks.size(), 0),
      parent_(function.blocks.size(), ir::kNoBlock),
      isLambdaBody_(function.blocks.size(), false),
      home_(function.vars.size(), ir::kNoBlock) {
  auto bind = [&](VarId var, BlockId block) {
    home_[var.value()] = block;
    eval::forEachPlainSymbol(function.var(var), [&](DimSymbol symbol) { binders_[symbol].push_back(var); });
  };
  for (VarId param : function.params) bind(param, function.body);
  std::unordered_map<VarId, size_t> loopOf;
  uint32_t clock = 0;
  ir::WalkCallbacks callbacks;
  callbacks.enterBlock = [&](BlockId id) { enter_[id.value()] = clock++; };
  callbacks.leaveBlock = [&](BlockId id) { leave_[id.value()] = clock; };
  callbacks.enterBinding = [&](BlockId id, size_t index) {
    const ir::Binding& binding = function.block(id).bindings[index];
    bind(binding.var, id);
    ir::forEachChildBlock(binding.rhs, [&](BlockId child) { parent_[child.value()] = id; });
    if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
      for (VarId param : lambda->params) bind(param, lambda->body);
      isLambdaBody_[lambda->body.value()] = !lambda->isJoin;
      if (lambda->isLoop) {
        loopOf.emplace(binding.var, all_.size());
        all_.push_back({binding.var, id, lambda->body, lambda->params, {}, {}});
      }
    } else if (const auto* match = std::get_if<ir::Match>(&binding.rhs)) {
      for (const ir::Clause& clause : match->clauses)
        ir::forEachPatternVar(function, clause.pattern, [&](VarId var) { bind(var, clause.block); });
    }
    return true;
  };
  ir::walk(function, function.body, callbacks);
  for (BlockId id : ir::blocksInOrder(function, function.body))
    for (const ir::Binding& binding : function.block(id).bindings) {
      const auto* jump = std::get_if<ir::CallJoin>(&binding.rhs);
      if (jump == nullptr) continue;
      auto at = loopOf.find(jump->join);
      if (at == loopOf.end()) continue;
      Loop& loop = all_[at->second];
      (isInside(id, loop.body) ? loop.inner : loop.outer).push_back({id, jump->args});
    }
}

bool Loops::isBoundIn(DimSymbol symbol, const Loop& loop) const {
  auto at = binders_.find(symbol);
  if (at == binders_.end()) return true;
  // Others may stand where the loop is not in their scope.
  return std::none_of(at->second.begin(), at->second.end(), [&](VarId var) {
    const BlockId home = homeOf(var);
    return home != ir::kNoBlock && isInside(loop.block, home);
  });
}

bool Loops::isInvariant(const ir::Binding& binding, const Loop& loop) const {
  bool isSame = true;
  ir::forEachOperand(binding.rhs, [&](const Atom& atom) {
    if (atom.isVar() && isBoundIn(atom.var(), loop)) isSame = false;
  });
  if (!isSame) return false;
  std::vector<DimSymbol> symbols = symbolsOf(function_, binding);
  for (const DimSymbol symbol : symbolsOf(binding.obligations)) symbols.push_back(symbol);
  return std::all_of(symbols.begin(), symbols.end(), [&](DimSymbol symbol) {
    if (!isBoundIn(symbol, loop)) return true;
    // What it finds out itself it takes along.
    auto at = binders_.find(symbol);
    return at != binders_.end() && at->second.size() == 1 && at->second.front() == binding.var;
  });
}

bool Loops::isDeferred(BlockId block, BlockId root) const {
  for (; block != root && block != ir::kNoBlock; block = parent_[block.value()])
    if (isLambdaBody_[block.value()]) return true;
  return false;
}

bool Loops::isInRounds(BlockId block, const Loop& loop) const {
  return isInside(block, loop.body) &&
         std::any_of(loop.inner.begin(), loop.inner.end(),
                     [&](const auto& jump) { return isInside(jump.block, block); });
}

}  // namespace baton::passes

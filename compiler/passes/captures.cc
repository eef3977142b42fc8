#include "compiler/passes/captures.h"

#include <unordered_set>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"

namespace baton::passes {

using ir::BlockId;
using ir::VarId;

Captures::Captures(const ir::Function& function, const LocalFunctions& locals)
    : function_(function), locals_(locals) {
  auto add = [&](VarId var, BlockId block) {
    eval::forEachPlainSymbol(function.var(var),
                             [&](DimSymbol symbol) { binders_[symbol].push_back({var, block}); });
  };
  for (VarId param : function.params) add(param, function.body);
  for (BlockId id : ir::blocksInOrder(function, function.body))
    for (const ir::Binding& binding : function.block(id).bindings) {
      add(binding.var, id);
      if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
        for (VarId param : lambda->params) add(param, lambda->body);
      } else if (const auto* match = std::get_if<ir::Match>(&binding.rhs)) {
        for (const ir::Clause& clause : match->clauses)
          ir::forEachPatternVar(function, clause.pattern, [&](VarId var) { add(var, clause.block); });
      }
    }
}

/// The first variable in whose scope the local function stands.
std::optional<VarId> Captures::binderOf(DimSymbol symbol, const LocalFunction& local) const {
  auto at = binders_.find(symbol);
  if (at == binders_.end()) return std::nullopt;
  for (const auto& [var, block] : at->second)
    if (!locals_.isInside(block, local.body) && locals_.isInside(local.block, block)) return var;
  return std::nullopt;
}

std::vector<VarId> Captures::of(const LocalFunction& local,
                                const std::function<const std::vector<VarId>*(VarId)>& expand) const {
  const auto& lambda = std::get<ir::Lambda>(function_.block(local.block).bindings[local.index].rhs);
  std::vector<VarId> captures;
  std::unordered_set<VarId> seen;
  auto add = [&](VarId var) {
    if (seen.insert(var).second) captures.push_back(var);
  };
  for (VarId var : ir::freeVariables(function_, lambda)) {
    if (var == local.var) continue;
    if (const std::vector<VarId>* inner = expand(var)) {
      for (VarId each : *inner) add(each);
    } else {
      add(var);
    }
  }
  std::unordered_set<DimSymbol> bound;
  auto bind = [&](VarId var) {
    eval::forEachPlainSymbol(function_.var(var), [&](DimSymbol symbol) { bound.insert(symbol); });
  };
  for (VarId var : captures) bind(var);
  for (VarId param : lambda.params) bind(param);
  auto need = [&](DimSymbol symbol) {
    if (bound.contains(symbol)) return;
    if (std::optional<VarId> binder = binderOf(symbol, local)) {
      add(*binder);
      bind(*binder);
    }
  };
  // Extents inside data are named by its type, and have their values from other variables.
  for (size_t i = 0; i < captures.size(); ++i) forEachSymbol(function_.var(captures[i]).type, need);
  for (VarId param : lambda.params) forEachSymbol(function_.var(param).type, need);
  for (DimSymbol symbol : symbolsUnder(function_, lambda.body)) need(symbol);
  return captures;
}

}  // namespace baton::passes

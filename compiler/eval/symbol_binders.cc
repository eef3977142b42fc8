#include "compiler/eval/symbol_binders.h"

#include <unordered_set>

#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"

namespace baton::eval {

using ir::BlockId;
using ir::VarId;

void forEachPlainSymbol(const ir::VarInfo& info, const std::function<void(DimSymbol)>& f) {
  if (info.type != nullptr && info.type->hasSymbols()) ir::forEachBoundSymbol(info.type, f);
  if (info.valueDims)
    for (const DimExpr& element : *info.valueDims)
      if (const auto symbol = element.asSymbol(); symbol && *symbol != ir::kAnyDim) f(*symbol);
}

SymbolBinders::SymbolBinders(const ir::Function& function, bool keepsScopes) {
  std::unordered_set<DimSymbol> inScope;
  std::vector<DimSymbol> trail;  // symbols in scope, innermost last
  std::vector<size_t> marks;     // length of the trail when a block was entered
  auto bind = [&](VarId var) {
    forEachPlainSymbol(function.var(var), [&](DimSymbol symbol) {
      if (!inScope.insert(symbol).second) return;
      trail.push_back(symbol);
      bound_[var].push_back(symbol);
      ++counts_[symbol];
    });
  };
  for (VarId param : function.params) bind(param);
  ir::WalkCallbacks callbacks;
  callbacks.enterChild = [&](BlockId parent, size_t index, size_t childIndex, BlockId child) {
    marks.push_back(trail.size());
    const ir::Rhs& rhs = function.block(parent).bindings[index].rhs;
    if (const auto* lambda = std::get_if<ir::Lambda>(&rhs)) {
      if (keepsScopes && !lambda->isJoin) scopes_.emplace(child, trail);
      for (VarId param : lambda->params) bind(param);
    } else if (const auto* match = std::get_if<ir::Match>(&rhs)) {
      ir::forEachPatternVar(function, match->clauses[childIndex].pattern, bind);
    }
  };
  callbacks.leaveBlock = [&](BlockId id) {
    if (id == function.body) return;
    for (; trail.size() > marks.back(); trail.pop_back()) inScope.erase(trail.back());
    marks.pop_back();
  };
  callbacks.leaveBinding = [&](BlockId id, size_t index) { bind(function.block(id).bindings[index].var); };
  ir::walk(function, function.body, callbacks);
}

const std::vector<DimSymbol>& SymbolBinders::boundBy(VarId var) const {
  auto at = bound_.find(var);
  return at == bound_.end() ? nothing_ : at->second;
}

uint32_t SymbolBinders::count(DimSymbol symbol) const {
  auto at = counts_.find(symbol);
  return at == counts_.end() ? 0 : at->second;
}

const std::vector<DimSymbol>& SymbolBinders::inScopeOf(BlockId lambdaBody) const {
  auto at = scopes_.find(lambdaBody);
  return at == scopes_.end() ? nothing_ : at->second;
}

}  // namespace baton::eval

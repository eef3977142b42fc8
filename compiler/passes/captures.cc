#include "compiler/passes/captures.h"

#include <unordered_set>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/attr_dims.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"

namespace baton::passes {

using ir::BlockId;
using ir::VarId;

Captures::Captures(const ir::Function& function, const LocalFunctions& locals)
    : function_(function), locals_(locals), free_(function) {
  findSymbols();
}

/// The first variable in whose scope the local function stands.
std::optional<VarId> Captures::binderOf(DimSymbol symbol, const LocalFunction& local) const {
  auto at = binders_.find(symbol);
  if (at == binders_.end()) return std::nullopt;
  for (const auto& [var, block] : at->second)
    if (!locals_.isInside(block, local.body) && locals_.isInside(local.block, block)) return var;
  return std::nullopt;
}

void Captures::findSymbols() {
  struct Open {
    BlockId body;
    std::unordered_set<DimSymbol> seen;
  };
  struct Binder {
    VarId var;
    size_t level;  // how many local functions are around it
  };
  std::vector<Open> open;  // local functions around, innermost last
  std::unordered_map<DimSymbol, Binder> inScope;
  std::vector<DimSymbol> trail;   // symbols in scope, innermost last
  std::vector<size_t> marks;      // length of the trail when a block was entered
  BlockId home = function_.body;  // of the variable that is bound next
  auto bind = [&](VarId var) {
    eval::forEachPlainSymbol(function_.var(var), [&](DimSymbol symbol) {
      binders_[symbol].push_back({var, home});
      if (inScope.try_emplace(symbol, Binder{var, open.size()}).second) trail.push_back(symbol);
    });
  };
  auto use = [&](DimSymbol symbol) {
    const auto at = inScope.find(symbol);
    if (at == inScope.end()) return;
    for (size_t i = open.size(); i > at->second.level; --i) {
      if (!open[i - 1].seen.insert(symbol).second) break;
      symbols_[open[i - 1].body].push_back({symbol, at->second.var});
    }
  };
  std::vector<DimSymbol> found;
  auto useExpr = [&](const DimExpr& expr) {
    found.clear();
    expr.collectSymbols(found);
    for (DimSymbol symbol : found) use(symbol);
  };
  // A variable uses the symbols that it does not bind.
  auto useAndBind = [&](VarId var) {
    const ir::VarInfo& info = function_.var(var);
    if (!open.empty()) {
      ir::forEachSymbol(info.type, use);
      if (info.valueDims)
        for (const DimExpr& element : *info.valueDims) useExpr(element);
    }
    bind(var);
  };
  auto functionOf = [&](BlockId block, size_t index) {
    const auto* lambda = std::get_if<ir::Lambda>(&function_.block(block).bindings[index].rhs);
    return lambda != nullptr && !lambda->isJoin ? lambda : nullptr;
  };
  for (VarId param : function_.params) bind(param);
  ir::WalkCallbacks callbacks;
  callbacks.enterBinding = [&](BlockId block, size_t index) {
    if (open.empty()) return true;
    const ir::Binding& binding = function_.block(block).bindings[index];
    for (DimSymbol symbol : symbolsOf(binding.obligations)) use(symbol);
    if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) ir::forEachDim(call->attrs, useExpr);
    return true;
  };
  callbacks.enterChild = [&](BlockId block, size_t index, size_t child, BlockId childBlock) {
    marks.push_back(trail.size());
    const ir::Rhs& rhs = function_.block(block).bindings[index].rhs;
    if (functionOf(block, index) != nullptr) open.push_back({childBlock, {}});
    home = childBlock;
    if (const auto* lambda = std::get_if<ir::Lambda>(&rhs)) {
      for (VarId param : lambda->params) useAndBind(param);
    } else if (const auto* match = std::get_if<ir::Match>(&rhs)) {
      ir::forEachPatternVar(function_, match->clauses[child].pattern, useAndBind);
    }
  };
  callbacks.leaveBlock = [&](BlockId block) {
    if (block == function_.body) return;
    for (; trail.size() > marks.back(); trail.pop_back()) inScope.erase(trail.back());
    marks.pop_back();
  };
  callbacks.leaveBinding = [&](BlockId block, size_t index) {
    if (functionOf(block, index) != nullptr) open.pop_back();
    home = block;
    useAndBind(function_.block(block).bindings[index].var);
  };
  ir::walk(function_, function_.body, callbacks);
}

std::vector<VarId> Captures::of(const LocalFunction& local,
                                const std::function<const std::vector<VarId>*(VarId)>& expand) const {
  const ir::Lambda& lambda = lambdaOf(function_, local);
  std::vector<VarId> captures;
  std::unordered_set<VarId> seen;
  auto add = [&](VarId var) {
    if (seen.insert(var).second) captures.push_back(var);
  };
  for (VarId var : free_.of(lambda)) {
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
  auto need = [&](DimSymbol symbol, std::optional<VarId> binder) {
    if (bound.contains(symbol) || !binder) return;
    add(*binder);
    bind(*binder);
  };
  // Extents inside data are named by its type, and have their values from other variables.
  auto needOf = [&](VarId var) {
    ir::forEachSymbol(function_.var(var).type,
                      [&](DimSymbol symbol) { need(symbol, binderOf(symbol, local)); });
  };
  for (size_t i = 0; i < captures.size(); ++i) needOf(captures[i]);
  for (VarId param : lambda.params) needOf(param);
  if (const auto symbols = symbols_.find(lambda.body); symbols != symbols_.end())
    for (const FreeSymbol& free : symbols->second) need(free.symbol, free.binder);
  return captures;
}

}  // namespace baton::passes

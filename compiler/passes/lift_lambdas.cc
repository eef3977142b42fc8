#include "compiler/passes/lift_lambdas.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/local_functions.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

/// Where symbols get their values: variables with the block that binds them, in program order.
class SymbolBinders {
 public:
  explicit SymbolBinders(const ir::Function& function) {
    auto add = [&](VarId var, BlockId block) {
      forEachBoundSymbol(function.var(var),
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
  /// The first variable in whose scope `local` stands.
  std::optional<VarId> find(DimSymbol symbol, const LocalFunction& local,
                            const LocalFunctions& locals) const {
    auto at = binders_.find(symbol);
    if (at == binders_.end()) return std::nullopt;
    for (const auto& [var, block] : at->second)
      if (!locals.isInside(block, local.body) && locals.isInside(local.block, block)) return var;
    return std::nullopt;
  }

 private:
  std::unordered_map<DimSymbol, std::vector<std::pair<VarId, BlockId>>> binders_;
};

class Lifter {
 public:
  Lifter(ir::Module& module, GlobalId id, FunctionNames& names) : module_(module), id_(id), names_(names) {}
  void run();

 private:
  ir::Function& function() { return module_.function(id_); }
  std::vector<VarId> capturesOf(const LocalFunction& local, const LocalFunctions& locals,
                                const SymbolBinders& binders);
  void rewriteCalls();
  ir::Function lift(const LocalFunction& local);

  ir::Module& module_;
  GlobalId id_;
  FunctionNames& names_;
  std::unordered_map<VarId, std::vector<VarId>> captures_;  // of the functions to lift
  std::unordered_map<VarId, GlobalId> lifted_;
};

/// Functions that it calls are no captures: what they capture is. Those stand before it, so
/// theirs are known.
std::vector<VarId> Lifter::capturesOf(const LocalFunction& local, const LocalFunctions& locals,
                                      const SymbolBinders& binders) {
  const auto& lambda = std::get<ir::Lambda>(function().block(local.block).bindings[local.index].rhs);
  std::vector<VarId> captures;
  std::unordered_set<VarId> seen;
  auto add = [&](VarId var) {
    if (seen.insert(var).second) captures.push_back(var);
  };
  for (VarId var : ir::freeVariables(function(), lambda)) {
    if (var == local.var) continue;
    auto known = captures_.find(var);
    if (known == captures_.end())
      add(var);
    else
      for (VarId inner : known->second) add(inner);
  }
  std::unordered_set<DimSymbol> bound;
  auto bind = [&](VarId var) {
    forEachBoundSymbol(function().var(var), [&](DimSymbol symbol) { bound.insert(symbol); });
  };
  for (VarId var : captures) bind(var);
  for (VarId param : lambda.params) bind(param);
  for (DimSymbol symbol : symbolsUnder(function(), lambda.body)) {
    if (bound.contains(symbol)) continue;
    if (std::optional<VarId> binder = binders.find(symbol, local, locals)) {
      add(*binder);
      bind(*binder);
    }
  }
  return captures;
}

void Lifter::rewriteCalls() {
  for (BlockId id : ir::blocksInOrder(function(), function().body))
    for (ir::Binding& binding : function().block(id).bindings) {
      const auto* call = std::get_if<ir::CallValue>(&binding.rhs);
      if (call == nullptr || !call->callee.isVar()) continue;
      auto target = lifted_.find(call->callee.var());
      if (target == lifted_.end()) continue;
      ir::CallGlobal direct{target->second, {}};
      for (VarId capture : captures_.at(call->callee.var())) direct.args.push_back(capture);
      direct.args.insert(direct.args.end(), call->args.begin(), call->args.end());
      binding.rhs = std::move(direct);
    }
}

ir::Function Lifter::lift(const LocalFunction& local) {
  const ir::Binding& binding = function().block(local.block).bindings[local.index];
  const auto& lambda = std::get<ir::Lambda>(binding.rhs);
  ir::Function result;
  result.name = names_.fresh(function().name + "_" + function().var(local.var).name);
  result.attrs = lambda.attrs;
  result.location = binding.location;
  // Symbols of its own: those of the captures and parameters are bound anew.
  FreshSymbols fresh(module_.dimSymbols);
  DimRewriter rename(module_.types, [&](DimSymbol symbol) { return fresh(symbol); });
  Cloner cloner(module_, function(), result);
  cloner.setDims(&rename);
  for (VarId capture : captures_.at(local.var)) result.params.push_back(cloner.bind(capture));
  for (VarId param : lambda.params) result.params.push_back(cloner.bind(param));
  result.body = cloner.clone(lambda.body);
  result.result = module_.typeOf(result, result.block(result.body).result);
  return result;
}

void Lifter::run() {
  LocalFunctions locals(function());
  if (locals.all().empty()) return;
  SymbolBinders binders(function());
  uint32_t next = static_cast<uint32_t>(module_.functions.size());
  std::vector<const LocalFunction*> chosen;
  for (const LocalFunction& local : locals.all()) {
    if (local.escapes) continue;
    captures_.emplace(local.var, capturesOf(local, locals, binders));
    lifted_.emplace(local.var, GlobalId(next++));
    chosen.push_back(&local);
  }
  if (chosen.empty()) return;
  rewriteCalls();
  // From the last to the first, so that an outer one is copied without its inner ones, and
  // erasing a binding moves only what has been dealt with.
  std::vector<ir::Function> made(chosen.size());
  for (size_t i = chosen.size(); i-- > 0;) {
    made[i] = lift(*chosen[i]);
    std::vector<ir::Binding>& bindings = function().block(chosen[i]->block).bindings;
    bindings.erase(bindings.begin() + chosen[i]->index);
  }
  for (ir::Function& function : made) module_.functions.push_back(std::move(function));
}

}  // namespace

Result<void> liftLambdas(ir::Module& module, PassContext&) {
  FunctionNames names(module);
  const uint32_t count = static_cast<uint32_t>(module.functions.size());
  for (uint32_t i = 0; i < count; ++i) Lifter(module, GlobalId(i), names).run();
  return success();
}

}  // namespace baton::passes

#include "compiler/passes/lift_lambdas.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/captures.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/local_functions.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::GlobalId;
using ir::VarId;

class Lifter {
 public:
  Lifter(ir::Module& module, GlobalId id, FunctionNames& names) : module_(module), id_(id), names_(names) {}
  void run();

 private:
  ir::Function& function() { return module_.function(id_); }
  void rewriteCalls();
  void dropCopiedUnder(BlockId root);
  ir::Function lift(const LocalFunction& local);

  ir::Module& module_;
  GlobalId id_;
  FunctionNames& names_;
  std::unordered_map<VarId, std::vector<VarId>> captures_;  // of the functions to lift
  std::unordered_map<VarId, GlobalId> lifted_;
  std::vector<bool> isCopied_;  // by variable: a local function that has been copied
};

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

void Lifter::dropCopiedUnder(BlockId root) {
  for (BlockId id : ir::blocksInOrder(function(), root))
    std::erase_if(function().block(id).bindings, [&](const ir::Binding& binding) {
      return std::holds_alternative<ir::Lambda>(binding.rhs) && isCopied_[binding.var.value()];
    });
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
  const Captures captures(function(), locals);
  // A function that is called is no capture: what it captures is. It stands before its
  // caller, so that is known.
  auto lifted = [&](VarId var) -> const std::vector<VarId>* {
    auto at = captures_.find(var);
    return at == captures_.end() ? nullptr : &at->second;
  };
  uint32_t next = static_cast<uint32_t>(module_.functions.size());
  std::vector<const LocalFunction*> chosen;
  for (const LocalFunction& local : locals.all()) {
    if (local.escapes) continue;
    captures_.emplace(local.var, captures.of(local, lifted));
    lifted_.emplace(local.var, GlobalId(next++));
    chosen.push_back(&local);
  }
  if (chosen.empty()) return;
  rewriteCalls();
  // From the last to the first, so that an outer one is copied without its inner ones.
  isCopied_.assign(function().vars.size(), false);
  std::vector<ir::Function> made(chosen.size());
  for (size_t i = chosen.size(); i-- > 0;) {
    dropCopiedUnder(chosen[i]->body);
    made[i] = lift(*chosen[i]);
    isCopied_[chosen[i]->var.value()] = true;
  }
  dropCopiedUnder(function().body);
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

#include "compiler/passes/registry.h"

#include <algorithm>
#include <unordered_set>
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

/// Which local functions become functions of the module.
enum class Lifting : uint8_t {
  Called,     ///< those that are only called; nothing is left of them
  AlsoValue,  ///< those that are called and are values; the value calls the function
};

class Lifter {
 public:
  Lifter(ir::Module& module, GlobalId id, FunctionNames& names, Lifting lifting)
      : module_(module), id_(id), names_(names), lifting_(lifting) {}
  void run();

 private:
  ir::Function& function() { return module_.function(id_); }
  bool isWanted(const LocalFunctions& locals, const LocalFunction& local);
  std::unordered_set<VarId> valuesIn(const LocalFunction& local);
  void rewriteCalls();
  void dropCopiedUnder(BlockId root);
  ir::Function lift(const LocalFunction& local);
  void makeForwarder(const LocalFunction& local);

  ir::Module& module_;
  GlobalId id_;
  FunctionNames& names_;
  Lifting lifting_;
  std::unordered_map<VarId, std::vector<VarId>> captures_;  // of the functions to lift
  std::unordered_map<VarId, GlobalId> lifted_;
  std::vector<bool> isCopied_;  // by variable: a local function that has been copied
};

/// A function that passes itself on as a value cannot be told from outside of its closure.
bool Lifter::isWanted(const LocalFunctions& locals, const LocalFunction& local) {
  if (lifting_ == Lifting::Called) return !local.escapes;
  if (!local.escapes) return false;
  bool isCalledOutside = false;
  for (const LocalCall& call : local.calls) {
    const auto& made = std::get<ir::CallValue>(function().block(call.block).bindings[call.index].rhs);
    if (made.args.size() != local.arity) return false;
    isCalledOutside = isCalledOutside || !locals.isInside(call.block, local.body);
  }
  if (!isCalledOutside) return false;
  return !valuesIn(local).contains(local.var);
}

/// Variables that are used in the body in another way than as the callee of a call.
std::unordered_set<VarId> Lifter::valuesIn(const LocalFunction& local) {
  std::unordered_set<VarId> values;
  auto use = [&](const Atom& atom) {
    if (atom.isVar()) values.insert(atom.var());
  };
  for (BlockId id : ir::blocksInOrder(function(), local.body)) {
    for (const ir::Binding& binding : function().block(id).bindings) {
      if (const auto* call = std::get_if<ir::CallValue>(&binding.rhs))
        std::for_each(call->args.begin(), call->args.end(), use);
      else
        ir::forEachOperand(binding.rhs, use);
    }
    use(function().block(id).result);
  }
  return values;
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

/// What is left of a value: a call of the function with what it captures.
void Lifter::makeForwarder(const LocalFunction& local) {
  const BlockId body = function().addBlock();
  auto& lambda = std::get<ir::Lambda>(function().block(local.block).bindings[local.index].rhs);
  lambda.body = body;
  ir::CallGlobal call{lifted_.at(local.var), {}};
  for (VarId capture : captures_.at(local.var)) call.args.push_back(capture);
  for (VarId param : lambda.params) call.args.push_back(param);
  const ir::TypeRef result = openDims(module_, function().var(local.var).type->result());
  const VarId var = append(function(), body, {.name = "result", .type = result}, std::move(call));
  function().block(body).result = var;
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
    if (!isWanted(locals, local)) continue;
    std::vector<VarId> own = captures.of(local, lifted);
    if (lifting_ == Lifting::AlsoValue) {
      // What is called and is a value is needed as both.
      const std::unordered_set<VarId> values = valuesIn(local);
      for (VarId var : captures.freeVariables().of(lambdaOf(function(), local)))
        if (lifted_.contains(var) && values.contains(var)) own.push_back(var);
    }
    captures_.emplace(local.var, std::move(own));
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
    if (lifting_ == Lifting::AlsoValue)
      makeForwarder(*chosen[i]);
    else
      isCopied_[chosen[i]->var.value()] = true;
  }
  dropCopiedUnder(function().body);
  for (ir::Function& function : made) module_.functions.push_back(std::move(function));
}

Result<void> liftAll(ir::Module& module, PassContext& context, Lifting lifting) {
  FunctionNames names(module);
  const uint32_t count = static_cast<uint32_t>(module.functions.size());
  for (uint32_t i = 0; i < count; ++i) Lifter(module, GlobalId(i), names, lifting).run();
  context.count("functions made", module.functions.size() - count);
  return success();
}

Result<void> liftLambdas(ir::Module& module, PassContext& context) {
  return liftAll(module, context, Lifting::Called);
}

Result<void> makeKnownCalls(ir::Module& module, PassContext& context) {
  return liftAll(module, context, Lifting::AlsoValue);
}

}  // namespace

constinit const PassInfo kLiftLambdasPass{
    .name = "lift-lambdas",
    .summary = "local functions that are only called become functions of the module",
    .documentation =
        R"(Turns the local functions that are only called, and are no joins, into functions of the module. Captures come first in the parameters: free variables, the captures of local functions that it calls, and, for an extent that none of these has, the variable that has it. What is left afterwards is a value and becomes a closure.)",
    .establishes = Property::Lifted,
    .run = liftLambdas,
};

constinit const PassInfo kKnownCallsPass{
    .name = "known-calls",
    .summary = "calls of a local function that is also a value call it directly",
    .documentation =
        R"(Takes local functions that are used as values and are called by name, too. The body becomes a function of the module with the captures as parameters, which the calls by name call; the value captures what it did and calls the same function. So a call whose callee is known never goes through a closure, and may be put in line.

A function that passes itself on as a value stays as it is, and so does one that is only a value.)",
    .level = 2,
    .run = makeKnownCalls,
};

}  // namespace baton::passes

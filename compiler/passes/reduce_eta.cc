// Eta reduction: a local function that only calls another with its own parameters is the other.

#include <algorithm>

#include "compiler/ir/walk.h"
#include "compiler/passes/definitions.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::Atom;

/// The function that `lambda`, bound to `var`, stands for.
std::optional<Atom> etaTarget(const ir::Module& module, const ir::Function& function, ir::VarId var,
                              const ir::Lambda& lambda) {
  if (lambda.isJoin || !lambda.attrs.empty()) return std::nullopt;
  const ir::Block& body = function.block(lambda.body);
  if (body.bindings.size() != 1 || body.result != Atom(body.bindings[0].var) ||
      !body.bindings[0].obligations.empty())
    return std::nullopt;
  Atom callee;
  const std::vector<Atom>* args = nullptr;
  if (const auto* direct = std::get_if<ir::CallGlobal>(&body.bindings[0].rhs)) {
    if (isFusionGroup(module.function(direct->callee))) return std::nullopt;
    callee = direct->callee;
    args = &direct->args;
  } else if (const auto* call = std::get_if<ir::CallValue>(&body.bindings[0].rhs)) {
    callee = call->callee;
    args = &call->args;
  } else {
    return std::nullopt;
  }
  const bool passesOn = std::equal(args->begin(), args->end(), lambda.params.begin(), lambda.params.end(),
                                   [](const Atom& arg, ir::VarId param) { return arg == Atom(param); });
  const bool isOwn =
      callee.isVar() && (callee.var() == var || std::find(lambda.params.begin(), lambda.params.end(),
                                                          callee.var()) != lambda.params.end());
  if (!passesOn || isOwn || callee.isConstant()) return std::nullopt;
  return callee;
}

Result<void> reduceEta(ir::Module& module, PassContext& context) {
  for (ir::Function& function : module.functions)
    for (ir::BlockId id : ir::blocksInOrder(function, function.body))
      for (ir::Binding& binding : function.block(id).bindings) {
        const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
        if (lambda == nullptr || !binding.obligations.empty()) continue;
        const std::optional<Atom> target = etaTarget(module, function, binding.var, *lambda);
        // A variable of another type is told apart by what its extents are.
        if (!target || module.typeOf(function, *target) != function.var(binding.var).type) continue;
        binding.rhs = ir::AtomRhs{*target};
        context.count("functions that were others");
      }
  return success();
}

}  // namespace

constinit const PassInfo kReduceEtaPass{
    .name = "reduce-eta",
    .summary = "local functions that only call another with their parameters are the other",
    .documentation =
        R"(Replaces `fn (%a, %b) { f(%a, %b) }` by `f`, a function of the module or a value from outside, where the types are the same and the call needs no check. A closure is not made then, and what gets the function knows which it is.

The order of parameters counts, and a call with anything else in it stays.)",
    .level = 1,
    .run = reduceEta,
};

}  // namespace baton::passes

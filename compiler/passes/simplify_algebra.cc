// Algebraic simplification: operators whose result is one of their operands, or what a
// cheaper operator gives, to the last bit. What holds for real numbers only is not here:
// x + 0 is 0 where x is -0, and x * 0 is NaN where x is infinite.

#include <unordered_map>
#include <utility>

#include "compiler/ir/walk.h"
#include "compiler/passes/algebra_rules.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using RuleTable = std::unordered_map<std::string_view, OperatorRule>;

const RuleTable& rulesByOperator() {
  static const RuleTable kRules = [] {
    RuleTable rules;
    for (std::span<const NamedRule> some : {arithmeticRules(), logicRules(), shapeRules()})
      for (const NamedRule& each : some) rules.emplace(each.op, each.rule);
    return rules;
  }();
  return kRules;
}

std::optional<ir::Rhs> simpler(RuleContext& in, const ir::Rhs& rhs) {
  if (const auto* call = std::get_if<ir::CallOp>(&rhs)) {
    const auto rule = rulesByOperator().find(call->op->name);
    return rule == rulesByOperator().end() ? std::nullopt : rule->second(in, *call);
  }
  const auto* branch = std::get_if<ir::If>(&rhs);
  return branch == nullptr ? std::nullopt : simplerIf(in, *branch);
}

void simplifyOperators(ir::Module& module, ir::Function& function, ConstantPool& pool, PassContext& context) {
  RuleContext in(module, function, pool);
  for (ir::BlockId id : ir::blocksInOrder(function, function.body))
    for (ir::Binding& binding : function.block(id).bindings) {
      // With a check of its own it stays: what is checked belongs to this operator.
      if (!binding.obligations.empty()) continue;
      in.type = function.var(binding.var).type;
      // Each rule leaves less to do; a few may follow one another.
      for (int round = 0; round < 8; ++round) {
        std::optional<ir::Rhs> better = simpler(in, binding.rhs);
        if (!better) break;
        binding.rhs = std::move(*better);
        context.count("operators simplified");
      }
    }
}

Result<void> simplifyAlgebra(ir::Module& module, PassContext& context) {
  ConstantPool pool(module);
  for (ir::Function& function : module.functions) {
    if (isFusionGroup(function)) continue;  // groups are made from what is simple already
    simplifyOperators(module, function, pool, context);
  }
  return success();
}

}  // namespace

constinit const PassInfo kSimplifyAlgebraPass{
    .name = "simplify-algebra",
    .summary = "operators whose result is an operand, or that a cheaper one can replace",
    .documentation =
        R"(Replaces an operator by one of its operands, by a number or by a cheaper operator where that gives the same bits for every input.

* Integers and bools: neutral and absorbing operands, `x - x`, double negation, comparisons of a value with itself and of extents whose order is known.
* Floats: `x + -0`, `x - 0`, `x * 1`, `x / 1`, `x * -1`, double negation, and a division by a power of two becomes a multiplication. Not `x + 0`, which is 0 where x is -0; not `x * 0`, `x - x` and `x == x`, which differ for infinities and NaN.
* Casts to the own type, and chains of casts where the detour changes nothing: through a type that holds all values, or from integer to narrower integer. A detour through floats saturates where integers wrap, so it stays.
* `transpose` of `transpose`, `reshape`, `squeeze` and `expand_dims` that come back to the shape that they started from, slices that take everything, `reverse` of `reverse`, `where` and `if` with equal arms or a known condition.

An operand must have the type of the result, extents included: adding a zero of higher rank changes the shape. Operators with a check of their own stay. `reinterpret` stays: it sees one NaN only.)",
    .level = 1,
    .run = simplifyAlgebra,
};

}  // namespace baton::passes

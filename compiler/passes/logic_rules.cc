// Rules about bits, comparisons and choices.
#include <algorithm>
#include <iterator>
#include <utility>

#include "compiler/passes/algebra_rules.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::CallOp;
using ir::Rhs;

std::optional<Rhs> onNot(RuleContext& in, const CallOp& call) {
  if (const CallOp* again = in.inner(call.args[0], call.op->name)) return in.same(again->args[0]);
  if (in.dtype() != DType::Bool) return std::nullopt;
  const auto* compared = in.definitions.as<CallOp>(call.args[0]);
  if (compared == nullptr || compared->args.size() != 2) return std::nullopt;
  constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {
      {"equal", "not_equal"}, {"less", "greater_equal"}, {"greater", "less_equal"}};
  for (const auto& [one, other] : kOpposites) {
    if (compared->op->name != one && compared->op->name != other) continue;
    // Neither a < b nor a >= b holds of NaN.
    if (one != "equal" && isFloat(in.typeOf(compared->args[0])->dtype())) return std::nullopt;
    return in.call(compared->op->name == one ? other : one, compared->args);
  }
  return std::nullopt;
}

std::optional<Rhs> onAnd(RuleContext& in, const CallOp& call) {
  if (in.isSame(call.args[0], call.args[1])) return in.same(call.args[0]);
  for (size_t i : {0, 1}) {
    if (in.isAll(call.args[i], in.dtype() == DType::Bool ? 1 : -1))
      if (std::optional<Rhs> result = in.same(call.args[1 - i])) return result;
    if (in.isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = in.number(0)) return result;
  }
  return std::nullopt;
}

std::optional<Rhs> onOr(RuleContext& in, const CallOp& call) {
  if (in.isSame(call.args[0], call.args[1])) return in.same(call.args[0]);
  for (size_t i : {0, 1}) {
    if (in.isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = in.same(call.args[1 - i])) return result;
    if (in.isAll(call.args[i], in.dtype() == DType::Bool ? 1 : -1))
      if (std::optional<Rhs> result = in.number(*in.splat(call.args[i]))) return result;
  }
  return std::nullopt;
}

std::optional<Rhs> onXor(RuleContext& in, const CallOp& call) {
  if (in.isSame(call.args[0], call.args[1])) return in.number(0);
  for (size_t i : {0, 1}) {
    if (in.isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = in.same(call.args[1 - i])) return result;
    if (in.dtype() == DType::Bool && in.isAllBits(call.args[i], 1) && in.typeOf(call.args[1 - i]) == in.type)
      return in.call("logical_not", {call.args[1 - i]});
  }
  return std::nullopt;
}

std::optional<Rhs> onShift(RuleContext& in, const CallOp& call) {
  return in.isAllBits(call.args[1], 0) ? in.same(call.args[0]) : std::nullopt;
}

std::optional<Rhs> onComparison(RuleContext& in, const CallOp& call) {
  constexpr std::pair<std::string_view, Relation> kRelations[] = {
      {"equal", Relation::Eq},      {"not_equal", Relation::Ne}, {"less", Relation::Lt},
      {"less_equal", Relation::Le}, {"greater", Relation::Gt},   {"greater_equal", Relation::Ge}};
  const auto* relation = std::find_if(std::begin(kRelations), std::end(kRelations),
                                      [&](const auto& each) { return each.first == call.op->name; });
  const DType operands = in.typeOf(call.args[0])->dtype();
  if (isFloat(operands)) return std::nullopt;  // NaN is unlike itself
  if (in.isSame(call.args[0], call.args[1])) return in.number(holds(relation->second, 0, 0) ? 1 : 0);
  if (operands == DType::Bool) {
    const bool isEqual = relation->second == Relation::Eq;
    if (!isEqual && relation->second != Relation::Ne) return std::nullopt;
    for (size_t i : {0, 1}) {
      const Atom other = call.args[1 - i];
      if (in.typeOf(other) != in.type) continue;
      if (in.isAllBits(call.args[i], isEqual ? 1 : 0)) return in.same(other);
      if (in.isAllBits(call.args[i], isEqual ? 0 : 1)) return in.call("logical_not", {other});
    }
    return std::nullopt;
  }
  switch (in.compare(call.args[0], relation->second, call.args[1])) {
    case Truth::False: return in.number(0);
    case Truth::True: return in.number(1);
    case Truth::Unknown: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Rhs> onWhere(RuleContext& in, const CallOp& call) {
  const std::optional<uint64_t> condition = in.splat(call.args[0]);
  if (condition) return in.same(call.args[*condition != 0 ? 1 : 2]);
  if (in.isSame(call.args[1], call.args[2])) return in.same(call.args[1]);
  if (in.dtype() == DType::Bool && in.isAllBits(call.args[1], 1) && in.isAllBits(call.args[2], 0))
    return in.same(call.args[0]);
  return std::nullopt;
}

}  // namespace

std::span<const NamedRule> logicRules() {
  static constexpr NamedRule kLogicRules[] = {
      {"logical_not", onNot},          {"bitwise_not", onNot},       {"logical_and", onAnd},
      {"bitwise_and", onAnd},          {"logical_or", onOr},         {"bitwise_or", onOr},
      {"logical_xor", onXor},          {"bitwise_xor", onXor},       {"left_shift", onShift},
      {"right_shift", onShift},        {"equal", onComparison},      {"not_equal", onComparison},
      {"less", onComparison},          {"less_equal", onComparison}, {"greater", onComparison},
      {"greater_equal", onComparison}, {"where", onWhere},
  };
  return kLogicRules;
}

/// Branches that give one value, or the condition itself.
std::optional<Rhs> simplerIf(RuleContext& in, const ir::If& branch) {
  const ir::Block& yes = in.function.block(branch.thenBlock);
  const ir::Block& no = in.function.block(branch.elseBlock);
  if (!yes.bindings.empty() || !no.bindings.empty()) return std::nullopt;
  if (in.isSame(yes.result, no.result)) return in.same(yes.result);
  if (!in.type->isScalar() || in.dtype() != DType::Bool) return std::nullopt;
  if (in.isAllBits(yes.result, 1) && in.isAllBits(no.result, 0)) return in.same(branch.condition);
  if (in.isAllBits(yes.result, 0) && in.isAllBits(no.result, 1))
    return in.call("logical_not", {branch.condition});
  return std::nullopt;
}

}  // namespace baton::passes

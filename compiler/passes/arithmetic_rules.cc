// Rules about numbers.
#include "compiler/passes/algebra_rules.h"
#include "compiler/passes/exact_arithmetic.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::CallOp;
using ir::Rhs;

std::optional<Rhs> onNegative(RuleContext& in, const CallOp& call) {
  if (const CallOp* again = in.inner(call.args[0], "negative")) return in.same(again->args[0]);
  if (isInteger(in.dtype()))
    if (const CallOp* difference = in.inner(call.args[0], "subtract"))
      return in.call("subtract", {difference->args[1], difference->args[0]});
  return std::nullopt;
}

std::optional<Rhs> onAbs(RuleContext& in, const CallOp& call) {
  if (in.inner(call.args[0], "abs") != nullptr || in.inner(call.args[0], "nn.relu") != nullptr)
    return in.same(call.args[0]);
  const CallOp* negative = in.inner(call.args[0], "negative");
  if (negative != nullptr && (isFloat(in.dtype()) || isSignedInt(in.dtype())))
    return in.call("abs", {negative->args[0]});
  return std::nullopt;
}

std::optional<Rhs> onRelu(RuleContext& in, const CallOp& call) {
  if (in.inner(call.args[0], "nn.relu") != nullptr) return in.same(call.args[0]);
  // The least integer is its own absolute value.
  if (isFloat(in.dtype()) && in.inner(call.args[0], "abs") != nullptr) return in.same(call.args[0]);
  return std::nullopt;
}

std::optional<Rhs> onRounding(RuleContext& in, const CallOp& call) {
  if (!isFloat(in.dtype())) return in.same(call.args[0]);
  for (const char* name : {"floor", "ceil", "trunc", "round"})
    if (in.inner(call.args[0], name) != nullptr) return in.same(call.args[0]);
  return std::nullopt;
}

std::optional<Rhs> onCast(RuleContext& in, const CallOp& call) {
  if (in.typeOf(call.args[0])->dtype() == in.dtype()) return in.same(call.args[0]);
  const CallOp* first = in.inner(call.args[0], "cast");
  if (first == nullptr) return std::nullopt;
  const Atom source = first->args[0];
  if (!castsOnce(in.typeOf(source)->dtype(), in.typeOf(call.args[0])->dtype(), in.dtype()))
    return std::nullopt;
  if (std::optional<Rhs> itself = in.same(source)) return itself;
  return Rhs(CallOp{call.op, call.attrs, {source}});
}

std::optional<Rhs> onAdd(RuleContext& in, const CallOp& call) {
  // -0, its sign alone, is the zero that changes nothing.
  const uint64_t zero = isFloat(in.dtype()) ? uint64_t{1} << (8 * sizeBytes(in.dtype()) - 1) : 0;
  for (size_t i : {0, 1})
    if (in.isAllBits(call.args[i], zero))
      if (std::optional<Rhs> result = in.same(call.args[1 - i])) return result;
  return std::nullopt;
}

std::optional<Rhs> onSubtract(RuleContext& in, const CallOp& call) {
  if (in.isAllBits(call.args[1], 0))
    if (std::optional<Rhs> result = in.same(call.args[0])) return result;
  if (!isInteger(in.dtype())) return std::nullopt;
  if (in.isSame(call.args[0], call.args[1]))
    if (std::optional<Rhs> result = in.number(0)) return result;
  if (in.isAllBits(call.args[0], 0) && in.typeOf(call.args[1]) == in.type)
    return in.call("negative", {call.args[1]});
  return std::nullopt;
}

std::optional<Rhs> onMultiply(RuleContext& in, const CallOp& call) {
  for (size_t i : {0, 1}) {
    const Atom other = call.args[1 - i];
    if (in.isAll(call.args[i], 1))
      if (std::optional<Rhs> result = in.same(other)) return result;
    if (!isFloat(in.dtype()) && in.isAllBits(call.args[i], 0))
      if (std::optional<Rhs> result = in.number(0)) return result;
    if ((isFloat(in.dtype()) || isSignedInt(in.dtype())) && in.isAll(call.args[i], -1) &&
        in.typeOf(other) == in.type)
      return in.call("negative", {other});
  }
  return std::nullopt;
}

std::optional<Rhs> onDivide(RuleContext& in, const CallOp& call) {
  const bool rounds = isFloat(in.dtype()) && call.op->name != "divide";
  if (!rounds && in.isAll(call.args[1], 1))
    if (std::optional<Rhs> result = in.same(call.args[0])) return result;
  if (rounds || !isFloat(in.dtype())) return std::nullopt;
  const std::optional<uint64_t> divisor = in.splat(call.args[1]);
  const std::optional<uint64_t> factor = divisor ? exactReciprocal(in.dtype(), *divisor) : std::nullopt;
  if (!factor || in.typeOf(call.args[0]) != in.type) return std::nullopt;
  return in.call("multiply", {call.args[0], in.scalar(*factor)});
}

std::optional<Rhs> onRemainder(RuleContext& in, const CallOp& call) {
  return isInteger(in.dtype()) && in.isAll(call.args[1], 1) ? in.number(0) : std::nullopt;
}

std::optional<Rhs> onExtreme(RuleContext& in, const CallOp& call) {
  return in.isSame(call.args[0], call.args[1]) ? in.same(call.args[0]) : std::nullopt;
}

std::optional<Rhs> onClip(RuleContext& in, const CallOp& call) {
  const CallOp* again = in.inner(call.args[0], "clip");
  return again != nullptr && again->attrs == call.attrs ? in.same(call.args[0]) : std::nullopt;
}

}  // namespace

std::span<const NamedRule> arithmeticRules() {
  static constexpr NamedRule kArithmeticRules[] = {
      {"negative", onNegative},
      {"abs", onAbs},
      {"nn.relu", onRelu},
      {"floor", onRounding},
      {"ceil", onRounding},
      {"trunc", onRounding},
      {"round", onRounding},
      {"cast", onCast},
      {"add", onAdd},
      {"subtract", onSubtract},
      {"multiply", onMultiply},
      {"divide", onDivide},
      {"floor_divide", onDivide},
      {"trunc_divide", onDivide},
      {"mod", onRemainder},
      {"trunc_mod", onRemainder},
      {"floor_mod", onRemainder},
      {"maximum", onExtreme},
      {"minimum", onExtreme},
      {"clip", onClip},
  };
  return kArithmeticRules;
}

}  // namespace baton::passes

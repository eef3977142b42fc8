// Rules about where elements lie: shapes that come back to what they were.
#include <algorithm>

#include "compiler/ops/arrange/layout.h"
#include "compiler/passes/algebra_rules.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::CallOp;
using ir::Rhs;

/// Copies and repetitions: with the type of the operand the result is the operand.
std::optional<Rhs> onCopy(RuleContext& in, const CallOp& call) { return in.same(call.args[0]); }

/// The axis of the operand for each axis of the result.
std::vector<int> permutationOf(const CallOp& call, int rank) {
  const ops::OpCall typed{call.op, &call.attrs, call.args.size()};
  return ops::transposedAxes(typed, rank).assume_value();
}

std::optional<Rhs> onTranspose(RuleContext& in, const CallOp& call) {
  const int rank = in.type->rank();
  std::vector<int> axes = permutationOf(call, rank);
  const CallOp* first = in.inner(call.args[0], "transpose");
  const Atom source = first == nullptr ? call.args[0] : first->args[0];
  if (first != nullptr) {
    const std::vector<int> before = permutationOf(*first, rank);
    for (int& axis : axes) axis = before[static_cast<size_t>(axis)];
  }
  if (std::is_sorted(axes.begin(), axes.end())) return in.same(source);
  if (first == nullptr) return std::nullopt;
  CallOp composed{call.op, call.attrs, {source}};
  composed.attrs.set("axes", std::vector<int64_t>(axes.begin(), axes.end()));
  return Rhs(std::move(composed));
}

bool isView(const CallOp& call) {
  return call.op->name == "reshape" || call.op->name == "squeeze" || call.op->name == "expand_dims";
}

/// Views keep the order of elements, so one that comes back to a shape is what had it.
std::optional<Rhs> onView(RuleContext& in, const CallOp& call) {
  const Atom data = call.args[0];
  if (std::optional<Rhs> itself = in.same(data)) return itself;
  const auto* first = in.definitions.as<CallOp>(data);
  if (first == nullptr || !isView(*first)) return std::nullopt;
  if (std::optional<Rhs> itself = in.same(first->args[0])) return itself;
  if (call.op->name != "reshape" || call.args.size() > 1) return std::nullopt;
  // Numbers and at most one -1 say the same of any data with as many elements.
  const auto shape = call.attrs.get<std::vector<DimExpr>>("newshape");
  if (!shape) return std::nullopt;
  size_t inferred = 0;
  for (const DimExpr& dim : *shape) {
    const std::optional<int64_t> extent = dim.asConstant();
    if (!extent || (*extent <= 0 && *extent != -1)) return std::nullopt;
    inferred += *extent == -1 ? 1 : 0;
  }
  if (inferred > 1) return std::nullopt;
  return Rhs(CallOp{call.op, call.attrs, {first->args[0]}});
}

std::optional<Rhs> onConcatenate(RuleContext& in, const CallOp& call) {
  return call.args.size() == 1 ? in.same(call.args[0]) : std::nullopt;
}

/// As many elements as there are, in the same direction, are all of them.
std::optional<Rhs> onSlice(RuleContext& in, const CallOp& call) {
  if (call.args.size() > 3) return std::nullopt;
  const auto strides = call.attrs.get<std::vector<int64_t>>("strides");
  if (!strides || std::any_of(strides->begin(), strides->end(), [](int64_t stride) { return stride < 1; }))
    return std::nullopt;
  return in.same(call.args[0]);
}

std::optional<Rhs> onReverse(RuleContext& in, const CallOp& call) {
  const auto axisOf = [&](const CallOp& reverse) {
    const int64_t axis = reverse.attrs.intOf("axis");
    return static_cast<size_t>(axis < 0 ? axis + in.type->rank() : axis);
  };
  const std::optional<int64_t> extent = in.type->dims()[axisOf(call)].asConstant();
  if (extent && *extent <= 1) return in.same(call.args[0]);
  const CallOp* again = in.inner(call.args[0], "reverse");
  return again != nullptr && axisOf(*again) == axisOf(call) ? in.same(again->args[0]) : std::nullopt;
}

}  // namespace

std::span<const NamedRule> shapeRules() {
  static constexpr NamedRule kShapeRules[] = {
      {"copy", onCopy},           {"broadcast_to", onCopy},   {"tile", onCopy},
      {"repeat", onCopy},         {"transpose", onTranspose}, {"reshape", onView},
      {"squeeze", onView},        {"expand_dims", onView},    {"concatenate", onConcatenate},
      {"strided_slice", onSlice}, {"reverse", onReverse},
  };
  return kShapeRules;
}

}  // namespace baton::passes

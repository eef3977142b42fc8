// nn.lrn: normalisation by what is near along an axis.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

Result<std::optional<StructureResult>> lrnStructure(const OpCall& call, StructureContext& context) {
  const LrnAttrs attrs{*call.attrs};
  if (attrs.size() < 1) return opError(call, fmt::format("size is {}; expected 1 or more", attrs.size()));
  if (const std::optional<int> rank = context.rank(0))
    BATON_TRY(normaliseAxis(call, "axis", attrs.axis(), *rank));
  return unaryStructure(call, context);
}

/// Squares of what is beyond the ends count as 0, so that every window has as many.
Result<loop::Value> lrnElement(ElementContext& context, std::span<const loop::Value> index) {
  using loop::Value;
  const LrnAttrs attrs{*context.call().attrs};
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", attrs.axis(), static_cast<int>(index.size())));
  const auto along = static_cast<size_t>(axis);
  Emitter& emitter = context.emitter();
  const DimExpr size = DimExpr::constant(attrs.size());
  const Value first = emitter.sub(index[along], emitter.number((attrs.size() - 1) / 2));
  BATON_TRY_ASSIGN(const Value total,
                   context.reduce(loop::ReduceOp::Sum, std::span(&size, 1), false, index,
                                  [&](std::span<const Value> vars) -> Result<Value> {
                                    const Value wanted = emitter.add(first, vars[0]);
                                    const Value last = emitter.dim(context.inputDims(0)[along] - one());
                                    std::vector<Value> at(index.begin(), index.end());
                                    at[along] = emitter.max(emitter.min(wanted, last), emitter.number(0));
                                    BATON_TRY_ASSIGN(const Value near, context.read(0, at));
                                    const Value x = widen(near);
                                    const Value zero = context.builder().constant(x.type(), 0.0);
                                    return loop::select(loop::equal(at[along], wanted), x * x, zero);
                                  }));
  BATON_TRY_ASSIGN(const Value data, context.read(0, index));
  const auto number = [&](double value) { return context.builder().constant(total.type(), value); };
  const Value scale =
      number(attrs.bias()) + number(attrs.alpha()) * total / number(static_cast<double>(attrs.size()));
  return loop::cast(widen(data) / loop::pow(scale, number(attrs.beta())), context.wantedType());
}

namespace {

template <class T>
void plainLrn(ReferenceCall& call, size_t axis) {
  const LrnAttrs attrs{*call.call.attrs};
  const DType type = call.inputs[0].dtype;
  const auto load = [&](std::span<const int64_t> at) {
    return scalarFromBits<T>(convertScalar(call.load(0, at), type, accumulationType(type)));
  };
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<T> squares;
    for (int64_t i = 0; i < attrs.size(); ++i) {
      std::vector<int64_t> at(index.begin(), index.end());
      at[axis] += i - (attrs.size() - 1) / 2;
      const bool isInside = at[axis] >= 0 && at[axis] < call.extent(0, axis);
      const T x = isInside ? load(at) : T{0};
      squares.push_back(x * x);
    }
    const T total = reduceInOrder(squares, T{0}, [](T a, T b) { return a + b; });
    const T scale = static_cast<T>(attrs.bias()) +
                    static_cast<T>(attrs.alpha()) * total / static_cast<T>(static_cast<double>(attrs.size()));
    const T result = load(index) / math::pow(scale, static_cast<T>(attrs.beta()));
    call.store(0, index, convertScalar(scalarBits(result), accumulationType(type), type));
  });
}

}  // namespace

Result<void> lrnReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", LrnAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.inputs[0].shape.size())));
  if (call.inputs[0].dtype == DType::F64)
    plainLrn<double>(call, static_cast<size_t>(axis));
  else
    plainLrn<float>(call, static_cast<size_t>(axis));
  return success();
}

}  // namespace baton::ops

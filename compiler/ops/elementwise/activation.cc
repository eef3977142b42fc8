// nn.leaky_relu, nn.prelu, nn.gelu and nn.dropout.
#include <numbers>
#include <type_traits>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

using loop::Value;

namespace {

Value sloped(Value x, Value slope) {
  return loop::select(x.builder().constant(x.type(), 0.0) < x, x, x * slope);
}

const auto kSloped = [](auto x, auto slope) {
  using T = decltype(x);
  if constexpr (std::is_floating_point_v<T>)
    return x > 0 ? x : x * static_cast<T>(slope);
  else
    return x;
};

}  // namespace

Value leakyReluScalar(const ScalarContext& context, std::span<const Value> inputs) {
  const double alpha = LeakyReluAttrs{*context.call.attrs}.alpha();
  return computeWide(context, inputs, [&](std::span<const Value> in) {
    return sloped(in[0], context.builder.constant(in[0].type(), alpha));
  });
}
Result<uint64_t> leakyReluReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  const double alpha = LeakyReluAttrs{*call.call.attrs}.alpha();
  return computeUnary(call.resultType, inputs, [&](auto x) { return kSloped(x, alpha); });
}

Result<Value> preluElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", PreluAttrs{*context.call().attrs}.axis(),
                                 static_cast<int>(index.size())));
  BATON_TRY_ASSIGN(const Value data, context.read(0, index));
  BATON_TRY_ASSIGN(const Value slope, context.read(1, {index[static_cast<size_t>(axis)]}));
  return loop::cast(sloped(widen(data), widen(slope)), context.wantedType());
}
Result<void> preluReference(ReferenceCall& call) {
  const DType type = call.results[0].dtype;
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", PreluAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.results[0].shape.size())));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const uint64_t inputs[] = {call.load(0, index), call.load(1, index[static_cast<size_t>(axis)])};
    call.store(0, index, computeBinary(type, inputs, kSloped));
  });
  return success();
}

namespace {

constexpr double kCubic = 0.044715;
constexpr double kTwiceRoot = 1.5957691216057307117597842397375;  // 2 sqrt(2 / pi)

bool usesTanh(const OpCall& call) { return GeluAttrs{*call.attrs}.approximate() == "tanh"; }

}  // namespace

Result<std::optional<StructureResult>> geluStructure(const OpCall& call, StructureContext& context) {
  const std::string& form = GeluAttrs{*call.attrs}.approximate();
  if (form != "none" && form != "tanh")
    return opError(call, fmt::format("approximate is \"{}\"; expected \"none\" or \"tanh\"", form));
  return unaryStructure(call, context);
}

/// (1 + tanh u) / 2 is sigmoid(2u), which is exact where tanh u is close to -1.
Value geluScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return computeWide(context, inputs, [&](std::span<const Value> in) {
    const Value x = in[0];
    const auto number = [&](double value) { return context.builder.constant(x.type(), value); };
    if (usesTanh(context.call))
      return x * loop::sigmoid(number(kTwiceRoot) * (x + number(kCubic) * x * x * x));
    return x * (number(0.5) * (number(1) + loop::erf(x * number(std::numbers::sqrt2 / 2))));
  });
}
Result<uint64_t> geluReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return computeUnary(call.resultType, inputs, [&](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      if (usesTanh(call.call))
        return x * math::sigmoid(static_cast<T>(kTwiceRoot) * (x + static_cast<T>(kCubic) * x * x * x));
      return x * (T{0.5} * (T{1} + math::erf(x * static_cast<T>(std::numbers::sqrt2 / 2))));
    } else {
      return x;
    }
  });
}

Result<std::optional<StructureResult>> dropoutStructure(const OpCall& call, StructureContext& context) {
  const double rate = DropoutAttrs{*call.attrs}.rate();
  if (!(rate >= 0 && rate <= 1)) return opError(call, fmt::format("rate is {}; expected 0 to 1", rate));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return StructureResult{{{*dtype, *rank}, {*dtype, *rank}}, true};
}
Result<std::vector<TensorDims>> dropoutDims(const OpCall&, DimsContext& context) {
  return std::vector<TensorDims>{{copyDims(context, 0)}, {copyDims(context, 0)}};
}
Result<void> dropoutLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const TensorId mask, context.make("ones_like", {}, {context.input(0)}));
  context.become({context.input(0), mask});
  return success();
}
Result<void> dropoutReference(ReferenceCall& call) {
  const int64_t count = elementCount(call.results[0].shape);
  for (int64_t i = 0; i < count; ++i) {
    call.store(0, i, call.load(0, i));
    call.store(1, i, convertScalar(1, DType::I64, call.results[1].dtype));
  }
  return success();
}

}  // namespace baton::ops

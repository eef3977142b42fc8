// random.uniform, random.normal and random.multinomial: written with other operators on random bits.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/random/random.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

Result<std::optional<StructureResult>> uniformStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(checkNumbers(call, context));
  BATON_TRY(context.requireRank(1, 0));
  BATON_TRY(context.requireRank(2, 0));
  const UniformAttrs attrs{*call.attrs};
  return StructureResult{{{DType::U64, 1}, {attrs.outDtype(), static_cast<int>(attrs.outShape()->size())}},
                         true};
}
Result<std::vector<TensorDims>> uniformDims(const OpCall& call, DimsContext& context) {
  return keyAndNumbersDims(call, context);
}
Result<std::optional<StructureResult>> normalStructure(const OpCall& call, StructureContext& context) {
  return uniformStructure(call, context);
}
Result<std::vector<TensorDims>> normalDims(const OpCall& call, DimsContext& context) {
  return keyAndNumbersDims(call, context);
}

Result<std::optional<StructureResult>> multinomialStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(checkNumbers(call, context));
  const int64_t samples = MultinomialAttrs{*call.attrs}.numSamples();
  if (samples < 0) return opError(call, fmt::format("num_samples is {}; expected 0 or more", samples));
  const std::optional<int> rank = context.rank(1);
  if (!rank) return std::nullopt;
  if (*rank == 0) return opError(call, "the probabilities are a scalar; expected rows of them");
  return StructureResult{{{DType::U64, 1}, {DType::I32, *rank}}, true};
}
Result<std::vector<TensorDims>> multinomialDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireKey(call, context));
  TensorDims drawn{copyDims(context, 1)};
  context.blame(1);
  BATON_TRY(context.require(drawn.extents.back(), Relation::Ge, one(),
                            "random.multinomial: there is nothing to draw from: a row has {0} elements"));
  drawn.extents.back() = DimExpr::constant(MultinomialAttrs{*call.attrs}.numSamples());
  return std::vector<TensorDims>{{{DimExpr::constant(kKeyWords)}}, std::move(drawn)};
}

namespace {

/// The next key, and numbers in [0, 1).
Result<std::vector<TensorId>> standardUniform(ExpandContext& context, std::vector<DimExpr> shape,
                                              DType dtype) {
  ir::Attrs attrs;
  attrs.set("out_shape", std::move(shape));
  BATON_TRY_ASSIGN(const std::vector<TensorId> made,
                   context.makeAll("random.threefry_generate", attrs, {context.input(0)}));
  const bool isWide = dtype == DType::F64;
  const DType bits = isWide ? DType::U64 : DType::U32;
  BATON_TRY_ASSIGN(const TensorId narrow, context.cast(made[1], bits));
  BATON_TRY_ASSIGN(const TensorId kept,
                   context.make("right_shift", {}, {narrow, context.scalar(bits, isWide ? 12 : 9)}));
  BATON_TRY_ASSIGN(const TensorId number, context.cast(kept, dtype));
  BATON_TRY_ASSIGN(
      const TensorId part,
      context.make("multiply", {}, {number, context.scalar(dtype, std::ldexp(1.0, isWide ? -52 : -23))}));
  return std::vector<TensorId>{made[0], part};
}

}  // namespace

Result<void> uniformLegal(ExpandContext& context) {
  const DType dtype = context.resultType(1);
  BATON_TRY_ASSIGN(const std::vector<TensorId> made, standardUniform(context, context.resultDims(1), dtype));
  BATON_TRY_ASSIGN(const TensorId low, context.cast(context.input(1), dtype));
  BATON_TRY_ASSIGN(const TensorId high, context.cast(context.input(2), dtype));
  BATON_TRY_ASSIGN(const TensorId width, context.make("subtract", {}, {high, low}));
  BATON_TRY_ASSIGN(const TensorId scaled, context.make("multiply", {}, {made[1], width}));
  BATON_TRY_ASSIGN(const TensorId result, context.make("add", {}, {scaled, low}));
  context.become({made[0], result});
  return success();
}

Result<void> normalLegal(ExpandContext& context) {
  const DType dtype = context.resultType(1);
  std::vector<DimExpr> shape = context.resultDims(1);
  shape.insert(shape.begin(), DimExpr::constant(2));
  BATON_TRY_ASSIGN(const std::vector<TensorId> made, standardUniform(context, std::move(shape), dtype));
  const auto number = [&](double value) { return context.scalar(dtype, value); };
  const auto half = [&](double which) {
    return context.takeRows(made[1], context.scalar(DType::I64, which));
  };
  BATON_TRY_ASSIGN(const TensorId first, half(0));
  BATON_TRY_ASSIGN(const TensorId second, half(1));
  BATON_TRY_ASSIGN(const TensorId positive, context.make("subtract", {}, {number(1), first}));
  BATON_TRY_ASSIGN(const TensorId logarithm, context.make("log", {}, {positive}));
  BATON_TRY_ASSIGN(const TensorId square, context.make("multiply", {}, {number(-2), logarithm}));
  BATON_TRY_ASSIGN(const TensorId radius, context.make("sqrt", {}, {square}));
  BATON_TRY_ASSIGN(const TensorId angle,
                   context.make("multiply", {}, {number(2 * std::numbers::pi), second}));
  BATON_TRY_ASSIGN(const TensorId sine, context.make("sin", {}, {angle}));
  BATON_TRY_ASSIGN(const TensorId standard, context.make("multiply", {}, {radius, sine}));
  BATON_TRY_ASSIGN(const TensorId mean, context.cast(context.input(1), dtype));
  BATON_TRY_ASSIGN(const TensorId scale, context.cast(context.input(2), dtype));
  BATON_TRY_ASSIGN(const TensorId scaled, context.make("multiply", {}, {standard, scale}));
  BATON_TRY_ASSIGN(const TensorId result, context.make("add", {}, {scaled, mean}));
  context.become({made[0], result});
  return success();
}

Result<void> multinomialLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const std::vector<TensorId> made,
                   standardUniform(context, context.resultDims(1), DType::F32));
  BATON_TRY_ASSIGN(const TensorId given, context.cast(context.input(1), DType::F32));
  BATON_TRY_ASSIGN(const TensorId weights,
                   context.make("maximum", {}, {given, context.scalar(DType::F32, 0)}));
  ir::Attrs rows;
  rows.set("axis", std::vector<int64_t>{-1});
  rows.set("keepdims", true);
  BATON_TRY_ASSIGN(const TensorId sum, context.make("sum", rows, {weights}));
  BATON_TRY_ASSIGN(const TensorId parts, context.make("divide", {}, {weights, sum}));
  ir::Attrs along;
  along.set("axis", int64_t{-1});
  BATON_TRY_ASSIGN(const TensorId limits, context.make("cumsum", along, {parts}));
  ir::Attrs behind;
  behind.set("right", true);
  BATON_TRY_ASSIGN(const TensorId found, context.make("searchsorted", behind, {limits, made[1]}));
  BATON_TRY_ASSIGN(const TensorId count,
                   context.extentOf(context.input(1), context.rank(context.input(1)) - 1, DType::I32));
  BATON_TRY_ASSIGN(const TensorId last, context.make("subtract", {}, {count, context.scalar(DType::I32, 1)}));
  BATON_TRY_ASSIGN(const TensorId result, context.make("minimum", {}, {found, last}));
  context.become({made[0], result});
  return success();
}

namespace {

/// Calls `f(i, u)` for numbers in [0, 1) of type T, and stores the next key.
template <class T, class F>
void forEachUniform(ReferenceCall& call, uint64_t count, F&& f) {
  const ThreefryKey ready = plainReadyKey(loadKey(call), count);
  storeKey(call, 0, plainNextKey(ready, count));
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bits = plainRandomBits(ready, count, i);
    if constexpr (sizeof(T) == 8)
      f(i, static_cast<T>(bits >> 12) * static_cast<T>(std::ldexp(1.0, -52)));
    else
      f(i, static_cast<T>(static_cast<uint32_t>(bits) >> 9) * static_cast<T>(std::ldexp(1.0, -23)));
  }
}

template <class T>
T scalarInput(const ReferenceCall& call, size_t input) {
  return scalarFromBits<T>(
      convertScalar(call.load(input, 0), call.inputs[input].dtype, call.results[1].dtype));
}

template <class T>
void plainUniform(ReferenceCall& call) {
  const T low = scalarInput<T>(call, 1);
  const T width = scalarInput<T>(call, 2) - low;
  forEachUniform<T>(call, static_cast<uint64_t>(elementCount(call.results[1].shape)), [&](uint64_t i, T u) {
    call.store(1, static_cast<int64_t>(i), scalarBits(u * width + low));
  });
}

template <class T>
void plainNormal(ReferenceCall& call) {
  const T mean = scalarInput<T>(call, 1);
  const T scale = scalarInput<T>(call, 2);
  const auto count = static_cast<uint64_t>(elementCount(call.results[1].shape));
  std::vector<T> numbers;
  forEachUniform<T>(call, 2 * count, [&](uint64_t, T u) { numbers.push_back(u); });
  for (uint64_t i = 0; i < count; ++i) {
    const T radius = std::sqrt(T{-2} * math::log(T{1} - numbers[i]));
    const T sine = math::sin(static_cast<T>(2 * std::numbers::pi) * numbers[i + count]);
    call.store(1, static_cast<int64_t>(i), scalarBits(radius * sine * scale + mean));
  }
}

}  // namespace

Result<void> uniformReference(ReferenceCall& call) {
  call.results[1].dtype == DType::F64 ? plainUniform<double>(call) : plainUniform<float>(call);
  return success();
}
Result<void> normalReference(ReferenceCall& call) {
  call.results[1].dtype == DType::F64 ? plainNormal<double>(call) : plainNormal<float>(call);
  return success();
}

Result<void> multinomialReference(ReferenceCall& call) {
  const int64_t choices = call.inputs[1].shape.back();
  const int64_t samples = call.results[1].shape.back();
  const auto count = static_cast<uint64_t>(elementCount(call.results[1].shape));
  forEachUniform<float>(call, count, [&](uint64_t i, float u) {
    const int64_t row = static_cast<int64_t>(i) / samples;
    std::vector<float> weights;
    for (int64_t k = 0; k < choices; ++k) {
      const float given = scalarFromBits<float>(
          convertScalar(call.load(1, row * choices + k), call.inputs[1].dtype, DType::F32));
      weights.push_back(given < 0 ? 0 : given);
    }
    const float sum = reduceInOrder(weights, 0.0F, [](float a, float b) { return a + b; });
    float limit = 0;
    int64_t index = 0;
    for (const float weight : weights) {
      limit += weight / sum;
      if (limit <= u) ++index;
    }
    call.store(1, static_cast<int64_t>(i), scalarBits(static_cast<int32_t>(std::min(index, choices - 1))));
  });
  return success();
}

}  // namespace baton::ops

// qnn.quantize, qnn.dequantize, qnn.requantize.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/quantised/fixed_point.h"

namespace baton::ops {

namespace {

/// Scale and zero point, which follow what they belong to.
AxisVector ofData(const OpCall& call, size_t input) { return {input, 0, call.attrs->intOf("axis")}; }

Result<std::optional<StructureResult>> dataStructure(const OpCall& call, StructureContext& context,
                                                     DType result) {
  BATON_TRY(context.provideResultDType(0, result));
  bool isKnown = true;
  for (size_t i = 1; i < call.inputCount; ++i) {
    const bool isOutput = i > 2;
    if (isOutput) {
      BATON_TRY(context.requireRank(i, 0));
      continue;
    }
    BATON_TRY_ASSIGN(const bool known, checkAxisVector(call, context, ofData(call, i)));
    isKnown = isKnown && known;
  }
  const std::optional<int> rank = context.rank(0);
  if (!isKnown || !rank) return std::nullopt;
  return oneResult(result, *rank);
}
Result<std::vector<TensorDims>> dataDims(const OpCall& call, DimsContext& context) {
  for (size_t i = 1; i < 3; ++i) BATON_TRY(requireAxisVector(call, context, ofData(call, i)));
  return std::vector<TensorDims>{{copyDims(context, 0)}};
}

Result<bool> roundsUpward(const OpCall& call) {
  const std::string& rounding = QnnRequantizeAttrs{*call.attrs}.rounding();
  if (rounding == "None" || rounding == "UPWARD") return true;
  if (rounding == "TONEAREST") return false;
  return opError(call, fmt::format("rounding is \"{}\"; expected \"UPWARD\" or \"TONEAREST\"", rounding));
}

}  // namespace

Result<std::optional<StructureResult>> qnnQuantizeStructure(const OpCall& call, StructureContext& context) {
  const DType result = QnnQuantizeAttrs{*call.attrs}.outDtype();
  BATON_TRY(checkQuantisedType(call, result));
  return dataStructure(call, context, result);
}
Result<std::vector<TensorDims>> qnnQuantizeDims(const OpCall& call, DimsContext& context) {
  return dataDims(call, context);
}
/// Quotients are of float32, or of float64 data in float64; to int32 they saturate.
Result<void> qnnQuantizeLegal(ExpandContext& context) {
  FixedPointExpansion e(context);
  const DType wide = accumulationType(context.dtype(context.input(0)));
  BATON_TRY_ASSIGN(const TensorId data, context.cast(context.input(0), wide));
  BATON_TRY_ASSIGN(const TensorId scale, e.along(ofData(context.call(), 1), wide));
  BATON_TRY_ASSIGN(const TensorId zero, e.along(ofData(context.call(), 2), DType::I64));
  BATON_TRY_ASSIGN(const TensorId quotient, e.apply("divide", {data, scale}));
  BATON_TRY_ASSIGN(const TensorId nearest, e.apply("round", {quotient}));
  BATON_TRY_ASSIGN(const TensorId limited, context.cast(nearest, DType::I32));
  BATON_TRY_ASSIGN(const TensorId whole, context.cast(limited, DType::I64));
  BATON_TRY_ASSIGN(const TensorId moved, e.apply("add", {whole, zero}));
  BATON_TRY_ASSIGN(const TensorId result, e.clipped(moved, context.resultType()));
  context.become({result});
  return success();
}
namespace {

template <class T>
void plainQuantize(ReferenceCall& call) {
  const DType type = call.inputs[0].dtype;
  int64_t at = 0;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const T x = scalarFromBits<T>(convertScalar(call.load(0, at), type, accumulationType(type)));
    const T quotient = x / static_cast<T>(vectorScale(call, ofData(call.call, 1), index));
    const uint64_t whole =
        convertScalar(scalarBits(std::nearbyint(quotient)), accumulationType(type), DType::I32);
    const int64_t moved = static_cast<int64_t>(convertScalar(whole, DType::I32, DType::I64)) +
                          vectorZeroPoint(call, ofData(call.call, 2), index);
    call.store(0, at++, plainClipped(moved, call.results[0].dtype));
  });
}

}  // namespace
Result<void> qnnQuantizeReference(ReferenceCall& call) {
  call.inputs[0].dtype == DType::F64 ? plainQuantize<double>(call) : plainQuantize<float>(call);
  return success();
}

Result<std::optional<StructureResult>> qnnDequantizeStructure(const OpCall& call, StructureContext& context) {
  const DType result = QnnDequantizeAttrs{*call.attrs}.outDtype();
  if (!isFloat(result))
    return opError(call, fmt::format("out_dtype is {}; expected a float type", dtypeName(result)));
  return dataStructure(call, context, result);
}
Result<std::vector<TensorDims>> qnnDequantizeDims(const OpCall& call, DimsContext& context) {
  return dataDims(call, context);
}
Result<void> qnnDequantizeLegal(ExpandContext& context) {
  FixedPointExpansion e(context);
  const DType wide = accumulationType(context.resultType());
  BATON_TRY_ASSIGN(const TensorId whole, e.centred(context.input(0), ofData(context.call(), 2), DType::I64));
  BATON_TRY_ASSIGN(const TensorId number, context.cast(whole, wide));
  BATON_TRY_ASSIGN(const TensorId scale, e.along(ofData(context.call(), 1), wide));
  BATON_TRY_ASSIGN(const TensorId product, e.apply("multiply", {number, scale}));
  BATON_TRY_ASSIGN(const TensorId result, context.cast(product, context.resultType()));
  context.become({result});
  return success();
}
namespace {

/// An element of the data without its zero point, which wraps in int64.
int64_t plainCentred(const ReferenceCall& call, int64_t at, std::span<const int64_t> index) {
  const uint64_t x = convertScalar(call.load(0, at), call.inputs[0].dtype, DType::I64);
  return static_cast<int64_t>(x - static_cast<uint64_t>(vectorZeroPoint(call, ofData(call.call, 2), index)));
}

template <class T>
void plainDequantize(ReferenceCall& call) {
  const DType type = call.results[0].dtype;
  int64_t at = 0;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const T product = static_cast<T>(plainCentred(call, at, index)) *
                      static_cast<T>(vectorScale(call, ofData(call.call, 1), index));
    call.store(0, at++, convertScalar(scalarBits(product), accumulationType(type), type));
  });
}

}  // namespace
Result<void> qnnDequantizeReference(ReferenceCall& call) {
  call.results[0].dtype == DType::F64 ? plainDequantize<double>(call) : plainDequantize<float>(call);
  return success();
}

Result<std::optional<StructureResult>> qnnRequantizeStructure(const OpCall& call, StructureContext& context) {
  const QnnRequantizeAttrs attrs{*call.attrs};
  BATON_TRY(roundsUpward(call));
  if (attrs.computeDtype() != "None" && attrs.computeDtype() != "int64")
    return opError(call, fmt::format("compute_dtype is \"{}\"; expected \"int64\"", attrs.computeDtype()));
  BATON_TRY(checkQuantisedType(call, attrs.outDtype()));
  return dataStructure(call, context, attrs.outDtype());
}
Result<std::vector<TensorDims>> qnnRequantizeDims(const OpCall& call, DimsContext& context) {
  return dataDims(call, context);
}
Result<void> qnnRequantizeLegal(ExpandContext& context) {
  FixedPointExpansion e(context);
  BATON_TRY_ASSIGN(const bool isUpward, roundsUpward(context.call()));
  BATON_TRY_ASSIGN(const TensorId whole, e.centred(context.input(0), ofData(context.call(), 2), DType::I64));
  BATON_TRY_ASSIGN(const TensorId scale, e.along(ofData(context.call(), 1), DType::F64));
  BATON_TRY_ASSIGN(const TensorId outputScale, context.cast(context.input(3), DType::F64));
  BATON_TRY_ASSIGN(const TensorId outputZero, context.cast(context.input(4), DType::I64));
  BATON_TRY_ASSIGN(const TensorId ratio, e.apply("divide", {scale, outputScale}));
  BATON_TRY_ASSIGN(const TensorId product,
                   e.scaled(whole, ratio, isUpward, e.isWide({context.input(0), context.input(2)})));
  BATON_TRY_ASSIGN(const TensorId moved, e.apply("add", {product, outputZero}));
  BATON_TRY_ASSIGN(const TensorId result, e.clipped(moved, context.resultType()));
  context.become({result});
  return success();
}
Result<void> qnnRequantizeReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const bool isUpward, roundsUpward(call.call));
  const AxisVector outputScale{3, 3, 0};
  const AxisVector outputZero{4, 4, 0};
  int64_t at = 0;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const double ratio =
        vectorScale(call, ofData(call.call, 1), index) / vectorScale(call, outputScale, index);
    const int64_t product = plainScaled(plainCentred(call, at, index), ratio, isUpward);
    const uint64_t moved =
        static_cast<uint64_t>(product) + static_cast<uint64_t>(vectorZeroPoint(call, outputZero, index));
    call.store(0, at++, plainClipped(static_cast<int64_t>(moved), call.results[0].dtype));
  });
  return success();
}

}  // namespace baton::ops

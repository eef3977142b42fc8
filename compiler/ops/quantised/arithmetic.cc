// qnn.add, qnn.subtract, qnn.mul, qnn.concatenate.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/quantised/fixed_point.h"

namespace baton::ops {

namespace {

/// Scale or zero point of one of the two operands.
AxisVector ofOperand(const OpCall& call, size_t operand, bool isZeroPoint) {
  return {2 + 2 * operand + (isZeroPoint ? 1 : 0), operand,
          call.attrs->intOf(operand == 0 ? "lhs_axis" : "rhs_axis")};
}
constexpr size_t kOutputScale = 6;
constexpr size_t kOutputZero = 7;

}  // namespace

Result<std::optional<StructureResult>> qnnBinaryStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY(context.requireRank(kOutputScale, 0));
  BATON_TRY(context.requireRank(kOutputZero, 0));
  bool isKnown = true;
  for (size_t operand = 0; operand < 2; ++operand)
    for (const bool isZeroPoint : {false, true}) {
      BATON_TRY_ASSIGN(const bool known,
                       checkAxisVector(call, context, ofOperand(call, operand, isZeroPoint)));
      isKnown = isKnown && known;
    }
  context.blame(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (dtype && sizeBytes(*dtype) > 4)
    return opError(
        call, fmt::format("the operands have element type {}; expected an integer type of at most 32 bits",
                          dtypeName(*dtype)));
  if (!isKnown || !dtype) return std::nullopt;
  return oneResult(*dtype, std::max(*context.rank(0), *context.rank(1)));
}
Result<std::vector<TensorDims>> qnnBinaryDims(const OpCall& call, DimsContext& context) {
  for (size_t operand = 0; operand < 2; ++operand)
    for (const bool isZeroPoint : {false, true})
      BATON_TRY(requireAxisVector(call, context, ofOperand(call, operand, isZeroPoint)));
  constexpr size_t kOperands[] = {0, 1};
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents, broadcastShapes(call, context, kOperands));
  return std::vector<TensorDims>{{std::move(extents)}};
}

namespace {

/// An operand with the scale of the result, and without a zero point.
Result<TensorId> requantizedOperand(ExpandContext& context, FixedPointExpansion& e, size_t operand) {
  BATON_TRY_ASSIGN(const TensorId whole,
                   e.centred(context.input(operand), ofOperand(context.call(), operand, true), DType::I64));
  BATON_TRY_ASSIGN(const TensorId scale, e.along(ofOperand(context.call(), operand, false), DType::F64));
  BATON_TRY_ASSIGN(const TensorId outputScale, context.cast(context.input(kOutputScale), DType::F64));
  BATON_TRY_ASSIGN(const TensorId ratio, e.apply("divide", {scale, outputScale}));
  const AxisVector zeroPoint = ofOperand(context.call(), operand, true);
  return e.scaled(whole, ratio, true, e.isWide({context.input(operand), context.input(zeroPoint.input)}));
}

Result<void> becomeOutput(ExpandContext& context, FixedPointExpansion& e, TensorId whole) {
  BATON_TRY_ASSIGN(const TensorId zero, context.cast(context.input(kOutputZero), DType::I64));
  BATON_TRY_ASSIGN(const TensorId moved, e.apply("add", {whole, zero}));
  BATON_TRY_ASSIGN(const TensorId result, e.clipped(moved, context.resultType()));
  context.become({result});
  return success();
}

Result<void> writeSum(ExpandContext& context, std::string_view op) {
  FixedPointExpansion e(context);
  BATON_TRY_ASSIGN(const TensorId first, requantizedOperand(context, e, 0));
  BATON_TRY_ASSIGN(const TensorId second, requantizedOperand(context, e, 1));
  BATON_TRY_ASSIGN(const TensorId sum, e.apply(op, {first, second}));
  return becomeOutput(context, e, sum);
}

/// `f(at, index of the first and of the second operand)` is the element without the zero point of the result.
template <class F>
void plainBinary(ReferenceCall& call, F&& f) {
  int64_t at = 0;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const std::vector<int64_t> first = broadcastIndex(call.inputs[0].shape, index);
    const std::vector<int64_t> second = broadcastIndex(call.inputs[1].shape, index);
    const auto zero = static_cast<uint64_t>(vectorZeroPoint(call, {kOutputZero, kOutputZero, 0}, {}));
    const auto moved = static_cast<int64_t>(static_cast<uint64_t>(f(first, second)) + zero);
    call.store(0, at++, plainClipped(moved, call.results[0].dtype));
  });
}

int64_t plainCentredOperand(const ReferenceCall& call, size_t operand, std::span<const int64_t> index) {
  const uint64_t x = convertScalar(call.load(operand, index), call.inputs[operand].dtype, DType::I64);
  return static_cast<int64_t>(
      x - static_cast<uint64_t>(vectorZeroPoint(call, ofOperand(call.call, operand, true), index)));
}
double plainOutputScale(const ReferenceCall& call) {
  return vectorScale(call, {kOutputScale, kOutputScale, 0}, {});
}
int64_t plainRequantized(const ReferenceCall& call, size_t operand, std::span<const int64_t> index) {
  const double ratio =
      vectorScale(call, ofOperand(call.call, operand, false), index) / plainOutputScale(call);
  return plainScaled(plainCentredOperand(call, operand, index), ratio, true);
}

}  // namespace

Result<void> qnnAddLegal(ExpandContext& context) { return writeSum(context, "add"); }
Result<void> qnnAddReference(ReferenceCall& call) {
  plainBinary(call, [&](std::span<const int64_t> a, std::span<const int64_t> b) {
    return plainRequantized(call, 0, a) + plainRequantized(call, 1, b);
  });
  return success();
}

Result<void> qnnSubtractLegal(ExpandContext& context) { return writeSum(context, "subtract"); }
Result<void> qnnSubtractReference(ReferenceCall& call) {
  plainBinary(call, [&](std::span<const int64_t> a, std::span<const int64_t> b) {
    return plainRequantized(call, 0, a) - plainRequantized(call, 1, b);
  });
  return success();
}

/// The product of the scales is one of float32, as TVM's.
Result<void> qnnMulLegal(ExpandContext& context) {
  FixedPointExpansion e(context);
  std::vector<TensorId> wholes;
  std::vector<TensorId> scales;
  for (size_t operand = 0; operand < 2; ++operand) {
    BATON_TRY_ASSIGN(const TensorId whole,
                     e.centred(context.input(operand), ofOperand(context.call(), operand, true), DType::I64));
    BATON_TRY_ASSIGN(const TensorId scale, e.along(ofOperand(context.call(), operand, false), DType::F32));
    wholes.push_back(whole);
    scales.push_back(scale);
  }
  BATON_TRY_ASSIGN(const TensorId product, e.apply("multiply", wholes));
  BATON_TRY_ASSIGN(const TensorId narrowScale, e.apply("multiply", scales));
  BATON_TRY_ASSIGN(const TensorId scale, context.cast(narrowScale, DType::F64));
  BATON_TRY_ASSIGN(const TensorId outputScale, context.cast(context.input(kOutputScale), DType::F64));
  BATON_TRY_ASSIGN(const TensorId ratio, e.apply("divide", {scale, outputScale}));
  BATON_TRY_ASSIGN(const TensorId result, e.scaled(product, ratio, true, true));
  return becomeOutput(context, e, result);
}
Result<void> qnnMulReference(ReferenceCall& call) {
  plainBinary(call, [&](std::span<const int64_t> a, std::span<const int64_t> b) {
    const float scale = static_cast<float>(vectorScale(call, ofOperand(call.call, 0, false), a)) *
                        static_cast<float>(vectorScale(call, ofOperand(call.call, 1, false), b));
    const auto product = static_cast<uint64_t>(plainCentredOperand(call, 0, a)) *
                         static_cast<uint64_t>(plainCentredOperand(call, 1, b));
    return plainScaled(static_cast<int64_t>(product), static_cast<double>(scale) / plainOutputScale(call),
                       true);
  });
  return success();
}

namespace {

/// The tuple has tensors, their scales, their zero points; two inputs are before it.
constexpr size_t kFirstPart = 2;
size_t partCount(const OpCall& call) { return (call.inputCount - kFirstPart) / 3; }
AxisVector ofPart(const OpCall& call, size_t part, bool isZeroPoint) {
  return {kFirstPart + (isZeroPoint ? 2 : 1) * partCount(call) + part, kFirstPart + part, 0};
}

}  // namespace

Result<std::optional<StructureResult>> qnnConcatenateStructure(const OpCall& call,
                                                               StructureContext& context) {
  const size_t count = partCount(call);
  if (count == 0 || call.inputCount != kFirstPart + 3 * count)
    return opError(
        call, fmt::format("the tuple has {} elements; expected tensors, then as many scales, then as many "
                          "zero points",
                          call.inputCount - kFirstPart));
  BATON_TRY(context.requireRank(0, 0));
  BATON_TRY(context.requireRank(1, 0));
  BATON_TRY(context.provideResultDTypeOf(0, kFirstPart));
  const auto checkType = [&](size_t input, DTypeClass types) -> Result<void> {
    context.blame(input);
    const std::optional<DType> dtype = context.dtype(input);
    if (!dtype || isInClass(*dtype, types)) return success();
    return opError(call, fmt::format("element {} of the tuple has element type {}; expected {}",
                                     input - kFirstPart, dtypeName(*dtype), dtypeClassName(types)));
  };
  for (size_t part = 0; part < count; ++part) {
    BATON_TRY(context.requireSameDType(kFirstPart, kFirstPart + part));
    BATON_TRY(context.requireSameRank(kFirstPart, kFirstPart + part));
    BATON_TRY(checkType(kFirstPart + part, DTypeClass::Integer));
    const size_t scale = ofPart(call, part, false).input;
    const size_t zeroPoint = ofPart(call, part, true).input;
    BATON_TRY(context.requireRank(scale, 0));
    BATON_TRY(context.requireRank(zeroPoint, 0));
    BATON_TRY(checkType(scale, DTypeClass::Float));
    BATON_TRY(checkType(zeroPoint, DTypeClass::Integer));
    if (!context.dtype(scale) || !context.dtype(zeroPoint)) return std::nullopt;
  }
  context.blame(kFirstPart);
  const std::optional<DType> dtype = context.dtype(kFirstPart);
  const std::optional<int> rank = context.rank(kFirstPart);
  if (rank) BATON_TRY(normaliseAxis(call, "axis", QnnConcatenateAttrs{*call.attrs}.axis(), *rank));
  if (!dtype || !rank) return std::nullopt;
  BATON_TRY(checkQuantisedType(call, *dtype));
  return oneResult(*dtype, *rank);
}
Result<std::vector<TensorDims>> qnnConcatenateDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, kFirstPart)};
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", QnnConcatenateAttrs{*call.attrs}.axis(),
                                                 static_cast<int>(result.extents.size())));
  for (size_t part = 1; part < partCount(call); ++part) {
    const std::vector<DimExpr> other = copyDims(context, kFirstPart + part);
    context.blame(kFirstPart + part);
    for (size_t d = 0; d < other.size(); ++d) {
      if (d == static_cast<size_t>(axis)) {
        result.extents[d] = result.extents[d] + other[d];
        continue;
      }
      BATON_TRY_ASSIGN(
          result.extents[d],
          requireEqual(context, result.extents[d], other[d],
                       fmt::format("qnn.concatenate: dimension {0} of element 0 of the tuple ({{0}}) does "
                                   "not match dimension {0} of element {1} ({{1}})",
                                   d, part)));
    }
  }
  return std::vector<TensorDims>{std::move(result)};
}
Result<void> qnnConcatenateLegal(ExpandContext& context) {
  const OpCall& call = context.call();
  ir::Attrs typed;
  typed.set("out_dtype", context.resultType());
  std::vector<TensorId> parts;
  for (size_t part = 0; part < partCount(call); ++part) {
    BATON_TRY_ASSIGN(
        const TensorId requantized,
        context.make("qnn.requantize", typed,
                     {context.input(kFirstPart + part), context.input(ofPart(call, part, false).input),
                      context.input(ofPart(call, part, true).input), context.input(0), context.input(1)}));
    parts.push_back(requantized);
  }
  ir::Attrs along;
  along.set("axis", QnnConcatenateAttrs{*call.attrs}.axis());
  BATON_TRY_ASSIGN(const TensorId result, context.make("concatenate", along, parts));
  context.become({result});
  return success();
}
Result<void> qnnConcatenateReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(call.call, "axis", QnnConcatenateAttrs{*call.call.attrs}.axis(),
                                 static_cast<int>(call.results[0].shape.size())));
  const double outputScale = vectorScale(call, {0, 0, 0}, {});
  const int64_t outputZero = vectorZeroPoint(call, {1, 1, 0}, {});
  int64_t start = 0;
  for (size_t part = 0; part < partCount(call.call); ++part) {
    const size_t input = kFirstPart + part;
    const double ratio = vectorScale(call, ofPart(call.call, part, false), {}) / outputScale;
    const auto zero = static_cast<uint64_t>(vectorZeroPoint(call, ofPart(call.call, part, true), {}));
    forEachPosition(call.inputs[input].shape, [&](std::span<const int64_t> index) {
      const uint64_t x = convertScalar(call.load(input, index), call.inputs[input].dtype, DType::I64);
      const auto scaled = static_cast<uint64_t>(plainScaled(static_cast<int64_t>(x - zero), ratio, true));
      std::vector<int64_t> at(index.begin(), index.end());
      at[static_cast<size_t>(axis)] += start;
      call.store(0, at,
                 plainClipped(static_cast<int64_t>(scaled + static_cast<uint64_t>(outputZero)),
                              call.results[0].dtype));
    });
    start += call.extent(input, static_cast<size_t>(axis));
  }
  return success();
}

}  // namespace baton::ops

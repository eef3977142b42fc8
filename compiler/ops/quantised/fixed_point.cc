#include "compiler/ops/quantised/fixed_point.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"

namespace baton::ops {

namespace {

struct IntegerRange {
  int64_t low;
  int64_t high;
};
/// Of a type of at most 32 bits.
IntegerRange rangeOf(DType dtype) {
  const int bits = 8 * sizeBytes(dtype);
  if (isUnsignedInt(dtype)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

}  // namespace

Result<bool> checkAxisVector(const OpCall& call, StructureContext& context, const AxisVector& vector) {
  context.blame(vector.input);
  const std::optional<int> rank = context.rank(vector.input);
  if (rank && *rank > 1)
    return opError(call,
                   fmt::format("the {} has rank {}; expected 0 or 1", inputName(call, vector.input), *rank));
  context.blame(vector.of);
  const std::optional<int> whole = context.rank(vector.of);
  if (rank == 1 && whole) BATON_TRY(normaliseAxis(call, "axis", vector.axis, *whole));
  return rank && whole;
}

Result<void> requireAxisVector(const OpCall& call, DimsContext& context, const AxisVector& vector) {
  if (context.dims(vector.input).empty()) return success();
  const std::vector<DimExpr> whole = copyDims(context, vector.of);
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", vector.axis, static_cast<int>(whole.size())));
  context.blame(vector.input);
  return context.require(DimExpr(context.dims(vector.input)[0]), Relation::Eq,
                         whole[static_cast<size_t>(axis)],
                         fmt::format("{}: the {} has {{0}} elements for dimension {} ({{1}})", call.op->name,
                                     inputName(call, vector.input), axis));
}

Result<void> checkQuantisedType(const OpCall& call, DType dtype) {
  if (isInClass(dtype, DTypeClass::Integer) && sizeBytes(dtype) <= 4) return success();
  return opError(
      call, fmt::format("out_dtype is {}; expected an integer type of at most 32 bits", dtypeName(dtype)));
}

Result<TensorId> FixedPointExpansion::along(const AxisVector& vector, DType dtype) {
  const TensorId tensor = context_.input(vector.input);
  if (context_.rank(tensor) == 0) return context_.cast(tensor, dtype);
  const auto rank = static_cast<int>(context_.rank(context_.input(vector.of)));
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(context_.call(), "axis", vector.axis, rank));
  std::vector<DimExpr> extents = context_.dims(tensor);
  extents.insert(extents.end(), static_cast<size_t>(rank - 1 - axis), one());
  BATON_TRY_ASSIGN(const TensorId view, context_.reshape(tensor, std::move(extents)));
  return context_.cast(view, dtype);
}

Result<TensorId> FixedPointExpansion::centred(TensorId data, const AxisVector& zeroPoint, DType dtype) {
  BATON_TRY_ASSIGN(const TensorId whole, context_.cast(data, dtype));
  BATON_TRY_ASSIGN(const TensorId zero, along(zeroPoint, dtype));
  return apply("subtract", {whole, zero});
}

/// A float64 of exponent e is m / 2^31 * 2^e with an integer m, which its bits have.
Result<TensorId> FixedPointExpansion::scaled(TensorId x, TensorId ratio, bool isUpward) {
  ir::Attrs asInteger;
  asInteger.set("dtype", DType::I64);
  BATON_TRY_ASSIGN(const TensorId bits, context_.make("reinterpret", asInteger, {ratio}));
  BATON_TRY_ASSIGN(const TensorId high, apply("right_shift", {bits, number(52)}));
  BATON_TRY_ASSIGN(const TensorId biased, apply("bitwise_and", {high, number(2047)}));
  BATON_TRY_ASSIGN(const TensorId exponent, apply("subtract", {biased, number(1022)}));
  BATON_TRY_ASSIGN(const TensorId fraction, apply("bitwise_and", {bits, number((int64_t{1} << 52) - 1)}));
  BATON_TRY_ASSIGN(const TensorId significand, apply("bitwise_or", {fraction, number(int64_t{1} << 52)}));
  BATON_TRY_ASSIGN(const TensorId raised, apply("add", {significand, number(int64_t{1} << 21)}));
  BATON_TRY_ASSIGN(const TensorId rounded, apply("right_shift", {raised, number(22)}));
  BATON_TRY_ASSIGN(const TensorId isNothing, apply("equal", {biased, number(0)}));
  BATON_TRY_ASSIGN(const TensorId multiplier, apply("where", {isNothing, number(0), rounded}));

  BATON_TRY_ASSIGN(const TensorId left, apply("maximum", {exponent, number(0)}));
  BATON_TRY_ASSIGN(const TensorId negative, apply("minimum", {exponent, number(0)}));
  BATON_TRY_ASSIGN(const TensorId shifted, apply("left_shift", {x, left}));
  BATON_TRY_ASSIGN(const TensorId product, apply("multiply", {shifted, multiplier}));
  if (isUpward) {
    BATON_TRY_ASSIGN(const TensorId count, apply("subtract", {number(30), negative}));
    BATON_TRY_ASSIGN(const TensorId doubled, apply("right_shift", {product, count}));
    BATON_TRY_ASSIGN(const TensorId half, apply("add", {doubled, number(1)}));
    return apply("right_shift", {half, number(1)});
  }
  // Halves away from zero: what is below zero is rounded down from one less.
  BATON_TRY_ASSIGN(const TensorId count, apply("subtract", {number(31), negative}));
  BATON_TRY_ASSIGN(const TensorId below, apply("subtract", {count, number(1)}));
  BATON_TRY_ASSIGN(const TensorId half, apply("left_shift", {number(1), below}));
  BATON_TRY_ASSIGN(const TensorId less, apply("subtract", {half, number(1)}));
  BATON_TRY_ASSIGN(const TensorId isPositive, apply("greater_equal", {product, number(0)}));
  BATON_TRY_ASSIGN(const TensorId added, apply("where", {isPositive, half, less}));
  BATON_TRY_ASSIGN(const TensorId sum, apply("add", {product, added}));
  BATON_TRY_ASSIGN(const TensorId result, apply("right_shift", {sum, count}));
  // Nothing is left of a product that is shifted out.
  BATON_TRY_ASSIGN(const TensorId isOut, apply("greater", {count, number(63)}));
  return apply("where", {isOut, number(0), result});
}

Result<TensorId> FixedPointExpansion::clipped(TensorId x, DType dtype) {
  const IntegerRange range = rangeOf(dtype);
  BATON_TRY_ASSIGN(const TensorId raised, apply("maximum", {x, number(range.low)}));
  BATON_TRY_ASSIGN(const TensorId limited, apply("minimum", {raised, number(range.high)}));
  return context_.cast(limited, dtype);
}

uint64_t vectorBits(const ReferenceCall& call, const AxisVector& vector, std::span<const int64_t> index) {
  if (call.inputs[vector.input].shape.empty()) return call.load(vector.input, 0);
  const auto rank = static_cast<int64_t>(call.inputs[vector.of].shape.size());
  const int64_t axis = vector.axis < 0 ? vector.axis + rank : vector.axis;
  return call.load(vector.input, index[index.size() - static_cast<size_t>(rank - axis)]);
}
double vectorScale(const ReferenceCall& call, const AxisVector& vector, std::span<const int64_t> index) {
  const DType type = call.inputs[vector.input].dtype;
  return scalarFromBits<double>(convertScalar(vectorBits(call, vector, index), type, DType::F64));
}
int64_t vectorZeroPoint(const ReferenceCall& call, const AxisVector& vector, std::span<const int64_t> index) {
  const DType type = call.inputs[vector.input].dtype;
  return static_cast<int64_t>(convertScalar(vectorBits(call, vector, index), type, DType::I64));
}

int64_t plainScaled(int64_t x, double ratio, bool isUpward) {
  if (!std::isnormal(ratio)) return 0;
  int exponent = 0;
  const double significand = std::frexp(std::abs(ratio), &exponent);
  const auto multiplier = static_cast<uint64_t>(std::round(std::ldexp(significand, 31)));
  const uint64_t shifted = exponent >= 64 ? 0 : static_cast<uint64_t>(x) << std::max(exponent, 0);
  const auto product = static_cast<int64_t>(shifted * multiplier);
  const int right = 31 - std::min(exponent, 0);
  if (right > 63) return 0;
  if (isUpward) return ((product >> (right - 1)) + 1) >> 1;
  const uint64_t half = uint64_t{1} << (right - 1);
  return static_cast<int64_t>(static_cast<uint64_t>(product) + (product >= 0 ? half : half - 1)) >> right;
}

uint64_t plainClipped(int64_t x, DType dtype) {
  const IntegerRange range = rangeOf(dtype);
  return convertScalar(static_cast<uint64_t>(std::clamp(x, range.low, range.high)), DType::I64, dtype);
}

}  // namespace baton::ops

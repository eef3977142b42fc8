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

namespace {

/// What is further from 0 than any result and any zero point of 32 bits.
constexpr int64_t kScaledLimit = int64_t{1} << 40;

}  // namespace

/// m and e where a float64 is m / 2^31 * 2^e; m is an integer, which the bits have, or 0 where the float is
/// no normal number.
Result<FixedPointExpansion::Ratio> FixedPointExpansion::taken(TensorId ratio) {
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
  // The least and the greatest exponent are those of zeros and of infinities.
  BATON_TRY_ASSIGN(const TensorId next, apply("add", {biased, number(1)}));
  BATON_TRY_ASSIGN(const TensorId wrapped, apply("bitwise_and", {next, number(2047)}));
  BATON_TRY_ASSIGN(const TensorId isNormal, apply("greater", {wrapped, number(1)}));
  BATON_TRY_ASSIGN(const TensorId multiplier, apply("where", {isNormal, rounded, number(0)}));
  return Ratio{multiplier, exponent};
}

/// x shifted to the left, and limited to what 63 bits hold then.
Result<TensorId> FixedPointExpansion::raised(TensorId x, TensorId count) {
  BATON_TRY_ASSIGN(const TensorId most, apply("bitwise_not", {number(INT64_MIN)}));
  BATON_TRY_ASSIGN(const TensorId high, apply("right_shift", {most, count}));
  BATON_TRY_ASSIGN(const TensorId low, apply("negative", {high}));
  BATON_TRY_ASSIGN(const TensorId above, apply("maximum", {x, low}));
  BATON_TRY_ASSIGN(const TensorId limited, apply("minimum", {above, high}));
  return apply("left_shift", {limited, count});
}

/// floor((m x - less) / 2^right) for m below 2^32 and right of 0 or more, or that times 2^left.
Result<TensorId> FixedPointExpansion::quotient(TensorId x, TensorId m, TensorId less, TensorId left,
                                               TensorId right, bool isWide) {
  if (!isWide) {
    BATON_TRY_ASSIGN(const TensorId product, apply("multiply", {x, m}));
    BATON_TRY_ASSIGN(const TensorId all, apply("subtract", {product, less}));
    BATON_TRY_ASSIGN(const TensorId shifted, raised(all, left));
    return apply("right_shift", {shifted, right});
  }
  // The product has 96 bits: the lower 32 of them, and the others.
  const TensorId half = number(32);
  const TensorId mask = number((int64_t{1} << 32) - 1);
  BATON_TRY_ASSIGN(const TensorId xLow, apply("bitwise_and", {x, mask}));
  BATON_TRY_ASSIGN(const TensorId xHigh, apply("right_shift", {x, half}));
  BATON_TRY_ASSIGN(const TensorId productLow, apply("multiply", {xLow, m}));
  BATON_TRY_ASSIGN(const TensorId productHigh, apply("multiply", {xHigh, m}));
  BATON_TRY_ASSIGN(const TensorId lessLow, apply("subtract", {productLow, less}));
  BATON_TRY_ASSIGN(const TensorId carry, apply("right_shift", {lessLow, half}));
  BATON_TRY_ASSIGN(const TensorId low, apply("bitwise_and", {lessLow, mask}));
  BATON_TRY_ASSIGN(const TensorId high, apply("add", {productHigh, carry}));
  BATON_TRY_ASSIGN(const TensorId fromLow, apply("minimum", {right, half}));
  BATON_TRY_ASSIGN(const TensorId fromHigh, apply("subtract", {right, fromLow}));
  BATON_TRY_ASSIGN(const TensorId up, apply("subtract", {half, fromLow}));
  BATON_TRY_ASSIGN(const TensorId upAndLeft, apply("add", {up, left}));
  BATON_TRY_ASSIGN(const TensorId highUp, raised(high, upAndLeft));
  BATON_TRY_ASSIGN(const TensorId highPart, apply("right_shift", {highUp, fromHigh}));
  BATON_TRY_ASSIGN(const TensorId lowUp, apply("left_shift", {low, left}));
  BATON_TRY_ASSIGN(const TensorId lowPart, apply("right_shift", {lowUp, right}));
  return apply("bitwise_or", {highPart, lowPart});
}

Result<TensorId> FixedPointExpansion::scaled(TensorId x, TensorId ratio, bool isUpward, bool isWide) {
  BATON_TRY_ASSIGN(const Ratio by, taken(ratio));
  // Half of the last place that counts is the first that is shifted out: m x / 2^(31 - e) is rounded from
  // m x / 2^(30 - e). Where e is above 30 it is a whole number, of which the limit is left.
  BATON_TRY_ASSIGN(const TensorId over, apply("subtract", {by.exponent, number(30)}));
  BATON_TRY_ASSIGN(const TensorId above, apply("maximum", {over, number(0)}));
  BATON_TRY_ASSIGN(const TensorId left, apply("minimum", {above, number(28)}));
  BATON_TRY_ASSIGN(const TensorId below, apply("minimum", {over, number(0)}));
  BATON_TRY_ASSIGN(const TensorId right, apply("negative", {below}));
  TensorId less = number(0);
  if (!isUpward) {
    // Halves away from zero: what is below zero is rounded up from one less.
    BATON_TRY_ASSIGN(const TensorId isNegative, apply("less", {x, number(0)}));
    BATON_TRY_ASSIGN(const TensorId isRounded, apply("less_equal", {over, number(0)}));
    BATON_TRY_ASSIGN(const TensorId isLess, apply("logical_and", {isNegative, isRounded}));
    BATON_TRY_ASSIGN(less, context_.cast(isLess, DType::I64));
  }
  BATON_TRY_ASSIGN(const TensorId twice, quotient(x, by.multiplier, less, left, right, isWide));
  BATON_TRY_ASSIGN(const TensorId noHigher, apply("minimum", {twice, number(2 * kScaledLimit)}));
  BATON_TRY_ASSIGN(const TensorId limited, apply("maximum", {noHigher, number(-2 * kScaledLimit)}));
  BATON_TRY_ASSIGN(const TensorId half, apply("add", {limited, number(1)}));
  return apply("right_shift", {half, number(1)});
}

bool FixedPointExpansion::isWide(std::initializer_list<TensorId> tensors) const {
  return std::any_of(tensors.begin(), tensors.end(), [&](TensorId tensor) {
    const DType dtype = context_.dtype(tensor);
    return sizeBytes(dtype) > (isUnsignedInt(dtype) ? 2 : 4);
  });
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
  const __int128 product = static_cast<__int128>(x) * std::llround(std::ldexp(significand, 31));
  const auto limited = [](__int128 value) {
    return static_cast<int64_t>(std::clamp<__int128>(value, -kScaledLimit, kScaledLimit));
  };
  const int right = 31 - exponent;
  if (right <= 0) return limited(limited(product) * (__int128{1} << std::min(-right, 60)));
  if (right > 120) return 0;
  const __int128 half = __int128{1} << (right - 1);
  return limited((product + (isUpward || product >= 0 ? half : half - 1)) >> right);
}

uint64_t plainClipped(int64_t x, DType dtype) {
  const IntegerRange range = rangeOf(dtype);
  return convertScalar(static_cast<uint64_t>(std::clamp(x, range.low, range.high)), DType::I64, dtype);
}

}  // namespace baton::ops

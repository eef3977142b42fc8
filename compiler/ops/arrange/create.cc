// Operators that make tensors from shapes and scalars, and shapes from tensors.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

ShapeSource fillShape(const OpCall& call) { return {FillAttrs{*call.attrs}.shape(), 0, "shape"}; }
ShapeSource fullShape(const OpCall& call) { return {FullAttrs{*call.attrs}.shape(), 1, "shape"}; }

std::optional<std::vector<DimExpr>> repeated(const TensorDims& result, const DimExpr& value) {
  const std::optional<size_t> count = valueCount(result);
  if (!count) return std::nullopt;
  return std::vector<DimExpr>(*count, value);
}

}  // namespace

Result<std::optional<StructureResult>> fillStructure(const OpCall& call, StructureContext& context) {
  const DType dtype = FillAttrs{*call.attrs}.dtype();
  BATON_TRY(context.provideResultDType(0, dtype));
  BATON_TRY_ASSIGN(const std::optional<int> rank, shapeRank(call, context, fillShape(call)));
  if (!rank) return std::nullopt;
  return oneResult(dtype, *rank);
}

Result<std::vector<TensorDims>> fillDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents, shapeExtents(call, context, fillShape(call)));
  return std::vector<TensorDims>{{std::move(extents)}};
}

std::optional<std::vector<DimExpr>> zerosValues(const OpCall& call, DimsContext&, const TensorDims& result) {
  if (isFloat(FillAttrs{*call.attrs}.dtype())) return std::nullopt;
  return repeated(result, DimExpr());
}
std::optional<std::vector<DimExpr>> onesValues(const OpCall& call, DimsContext&, const TensorDims& result) {
  if (isFloat(FillAttrs{*call.attrs}.dtype())) return std::nullopt;
  return repeated(result, DimExpr::constant(1));
}

Result<std::optional<StructureResult>> fullStructure(const OpCall& call, StructureContext& context) {
  const FullAttrs attrs{*call.attrs};
  BATON_TRY(context.requireRank(0, 0));
  BATON_TRY_ASSIGN(const std::optional<DType> dtype, givenOrInputDType(context, attrs.dtype()));
  BATON_TRY_ASSIGN(const std::optional<int> rank, shapeRank(call, context, fullShape(call)));
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> fullDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents, shapeExtents(call, context, fullShape(call)));
  return std::vector<TensorDims>{{std::move(extents)}};
}

std::optional<std::vector<DimExpr>> fullValues(const OpCall& call, DimsContext& context,
                                               const TensorDims& result) {
  const std::vector<DimExpr>* value = context.values(0);
  const DType dtype = FullAttrs{*call.attrs}.dtype().value_or(context.dtype(0));
  if (value == nullptr || !isInteger(dtype)) return std::nullopt;
  if (dtype != context.dtype(0) && !fitsDType(context, value->front(), dtype)) return std::nullopt;
  return repeated(result, value->front());
}

Result<std::optional<StructureResult>> fullLikeStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(1, 0));
  return unaryStructure(call, context);
}

Result<std::optional<StructureResult>> arangeStructure(const OpCall& call, StructureContext& context) {
  const ArangeAttrs attrs{*call.attrs};
  for (size_t i = 0; i < 3; ++i) BATON_TRY(context.requireRank(i, 0));
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireSameDType(0, 2));
  if (attrs.dtype())
    BATON_TRY(context.provideResultDType(0, *attrs.dtype()));
  else
    BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = attrs.dtype() ? attrs.dtype() : context.dtype(0);
  if (!dtype) return std::nullopt;
  if (dtype == DType::Bool)
    return opError(call, "the type of the result is bool; expected an integer or float type");
  return oneResult(*dtype, 1);
}

namespace {

using Wide = __int128;

DimExpr lesser(DimsContext& context, const DimExpr& a, const DimExpr& b) {
  if (context.decide(a, Relation::Le, b) == Truth::True) return a;
  return context.decide(a, Relation::Ge, b) == Truth::True ? b : min(a, b);
}

DimExpr greater(DimsContext& context, const DimExpr& a, const DimExpr& b) {
  if (context.decide(a, Relation::Ge, b) == Truth::True) return a;
  return context.decide(a, Relation::Le, b) == Truth::True ? b : max(a, b);
}

/// -1 - x, which every int64 has.
DimExpr complement(const DimExpr& x) {
  const std::optional<int64_t> constant = x.asConstant();
  return constant ? DimExpr::constant(~*constant) : DimExpr::constant(-1) - x;
}

/// Elements from `start` to `stop`, which are less than 2^63 apart.
DimExpr narrowCount(DimsContext& context, const DimExpr& start, const DimExpr& stop, const DimExpr& step) {
  const DimExpr zero;
  DimExpr count;
  if (context.decide(step, Relation::Gt, zero) == Truth::True) {
    count = ceilDiv(stop - start, step);
  } else if (context.decide(step, Relation::Lt, zero) == Truth::True) {
    count = ceilDiv(start - stop, zero - step);
  } else {
    const DimExpr sign = max(min(step, DimExpr::constant(1)), DimExpr::constant(-1));
    count = ceilDiv((stop - start) * sign, max(max(step, zero - step), DimExpr::constant(1)));
  }
  return greater(context, count, zero);
}

/// Elements from `start` to any `stop`: those on one side of zero and those on the other, so that
/// no distance exceeds 64 bits.
Result<DimExpr> wideCount(DimsContext& context, const DimExpr& start, const DimExpr& stop,
                          const DimExpr& step) {
  const DimExpr zero;
  const DimExpr one = DimExpr::constant(1);
  const DimExpr minusOne = DimExpr::constant(-1);
  // What `up` is where the step is positive, and `down` where it is negative.
  const DimExpr isPositive = context.decide(step, Relation::Gt, zero) == Truth::True ? one
                             : context.decide(step, Relation::Lt, zero) == Truth::True
                                 ? zero
                                 : max(min(step, one), zero);
  const auto choose = [&](const auto& up, const auto& down) {
    if (isPositive == one) return up();
    if (isPositive == zero) return down();
    const DimExpr otherwise = down();
    return otherwise + isPositive * (up() - otherwise);
  };
  DimExpr divisor = step;
  if (!isPositive.asConstant()) {  // a step of 0 has been refused, but this may be computed before
    const DimExpr sign = max(min(step, one), minusOne);
    divisor = step + one - max(sign, zero - sign);
  }
  // From `start` up to, and without, zero or `stop`, or down to, and without, -1 or `stop`: that
  // distance less 1 fits even from the least number, and ceil(x / s) is floor((x - 1) / s) + 1.
  const DimExpr distance = choose(
      [&] {
        return lesser(context, greater(context, stop, start), zero) +
               complement(lesser(context, start, zero));
      },
      [&] {
        return greater(context, lesser(context, stop, start), minusOne) - greater(context, start, minusOne) +
               one;
      });
  const DimExpr before = floorDiv(distance, divisor);
  // The rest is from the first element beyond that.
  const DimExpr at = start + (before + one) * step;
  const DimExpr left =
      choose([&] { return greater(context, stop, at); }, [&] { return lesser(context, stop, at); }) - at;
  const DimExpr after = ceilDiv(left, divisor);
  const DimExpr count = before + one + after;
  if (before.asConstant()) return greater(context, count, zero);
  // No tensor has this many, and two such numbers have a sum.
  for (const DimExpr& part : {before, after})
    BATON_TRY(context.require(part, Relation::Lt, DimExpr::constant(int64_t{1} << 62),
                              "arange: from {0} to {1} by {2} are too many elements", {start, stop, step}));
  return max(count, zero);
}

}  // namespace

Result<std::vector<TensorDims>> arangeDims(const OpCall& call, DimsContext& context) {
  if (isFloat(context.dtype(0))) {
    const std::optional<double> start = context.constantFloat(0);
    const std::optional<double> stop = context.constantFloat(1);
    const std::optional<double> step = context.constantFloat(2);
    if (!start || !stop || !step)
      return Error(ErrorCode::Unsupported, "arange: float bounds that are not known when compiling");
    if (*step == 0) return opError(call, "the step is 0");
    const double count = std::max(std::ceil((*stop - *start) / *step), 0.0);
    if (!(count < 9.0e18))
      return opError(call, fmt::format("from {} to {} by {} are too many elements", *start, *stop, *step));
    return std::vector<TensorDims>{{{DimExpr::constant(static_cast<int64_t>(count))}}};
  }
  // By value: a context may drop what a pointer shows when it is asked again.
  DimExpr bounds[3];
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<DimExpr>* value = context.valuesOrSymbols(i);
    if (value == nullptr) return opError(call, fmt::format("the {} is not known", inputName(call, i)));
    bounds[i] = value->front();
  }
  const auto& [start, stop, step] = bounds;
  const auto first = start.asConstant();
  const auto last = stop.asConstant();
  const auto by = step.asConstant();
  if (first && last && by && *by != 0) {
    const auto wide = [&](int64_t bits) {
      return context.dtype(0) == DType::U64 ? Wide{static_cast<uint64_t>(bits)} : Wide{bits};
    };
    const Wide distance = wide(*last) - wide(*first);
    const Wide stride = wide(*by);
    const Wide count = (distance + stride + (stride > 0 ? -1 : 1)) / stride;
    if (count > INT64_MAX)
      return opError(call, fmt::format("from {} to {} by {} are too many elements", *first, *last, *by));
    return std::vector<TensorDims>{{{DimExpr::constant(count < 0 ? 0 : static_cast<int64_t>(count))}}};
  }
  const DimExpr zero;
  if (context.dtype(0) == DType::U64)
    for (size_t i = 0; i < 3; ++i)
      BATON_TRY(context.require(bounds[i], Relation::Ge, zero,
                                fmt::format("arange: the {} is above 9223372036854775807, the largest extent",
                                            inputName(call, i))));
  BATON_TRY(context.require(step, Relation::Ne, zero, "arange: the step is {0}"));
  DimExpr count;
  if (context.dtype(0) == DType::I64) {
    BATON_TRY_ASSIGN(count, wideCount(context, start, stop, step));
  } else {
    count = narrowCount(context, start, stop, step);
  }
  return std::vector<TensorDims>{{{std::move(count)}}};
}

std::optional<std::vector<DimExpr>> arangeValues(const OpCall& call, DimsContext& context,
                                                 const TensorDims& result) {
  const DType dtype = ArangeAttrs{*call.attrs}.dtype().value_or(context.dtype(0));
  const std::vector<DimExpr>* start = context.values(0);
  const std::vector<DimExpr>* step = context.values(2);
  const std::optional<size_t> count = valueCount(result);
  if (!isInteger(dtype) || !isInteger(context.dtype(0)) || start == nullptr || step == nullptr || !count)
    return std::nullopt;
  std::vector<DimExpr> out;
  for (size_t i = 0; i < *count; ++i) {
    const auto first = start->front().asConstant();
    const auto by = step->front().asConstant();
    // Products on the way may exceed 64 bits where no element does.
    out.push_back(first && by
                      ? DimExpr::constant(static_cast<int64_t>(*first + Wide{*by} * static_cast<Wide>(i)))
                      : start->front() + step->front() * DimExpr::constant(static_cast<int64_t>(i)));
    if (!fitsDType(context, out.back(), dtype) || !fitsDType(context, out.back(), context.dtype(0)))
      return std::nullopt;
  }
  return out;
}

Result<std::optional<StructureResult>> shapeOfStructure(const OpCall& call, StructureContext& context) {
  const DType dtype = ShapeOfAttrs{*call.attrs}.dtype();
  if (!isInteger(dtype))
    return opError(call, fmt::format("the result has type {}; expected an integer type", dtypeName(dtype)));
  BATON_TRY(context.provideResultDType(0, dtype));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  return oneResult(dtype, 1);
}

Result<std::vector<TensorDims>> shapeOfDims(const OpCall& call, DimsContext& context) {
  const DType dtype = ShapeOfAttrs{*call.attrs}.dtype();
  const std::vector<DimExpr> data = copyDims(context, 0);
  const int bits = 8 * sizeBytes(dtype) - (isSignedInt(dtype) ? 1 : 0);
  if (bits < 63)
    for (size_t axis = 0; axis < data.size(); ++axis)
      BATON_TRY(context.require(
          data[axis], Relation::Le, DimExpr::constant((int64_t{1} << bits) - 1),
          fmt::format("shape_of: dimension {} ({{0}}) does not fit {}", axis, dtypeName(dtype))));
  return std::vector<TensorDims>{{{DimExpr::constant(static_cast<int64_t>(data.size()))}}};
}

std::optional<std::vector<DimExpr>> shapeOfValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  if (!valueCount(result)) return std::nullopt;
  return copyDims(context, 0);
}

namespace {

using loop::Value;

void fillWith(ReferenceCall& call, uint64_t bits) {
  const int64_t count = elementCount(call.results[0].shape);
  for (int64_t i = 0; i < count; ++i) call.store(0, i, bits);
}

}  // namespace

Result<Value> zerosElement(ElementContext& context, std::span<const Value>) {
  return context.builder().constant(context.wantedType(), 0.0);
}
Result<void> zerosReference(ReferenceCall& call) {
  fillWith(call, 0);
  return success();
}

Result<Value> onesElement(ElementContext& context, std::span<const Value>) {
  return context.builder().constant(context.wantedType(), 1.0);
}
Result<void> onesReference(ReferenceCall& call) {
  fillWith(call, convertScalar(1, DType::I64, call.results[0].dtype));
  return success();
}

Result<Value> fullElement(ElementContext& context, std::span<const Value>) {
  BATON_TRY_ASSIGN(const Value value, context.read(0, {}));
  return loop::cast(value, context.wantedType());
}
Result<void> fullReference(ReferenceCall& call) {
  fillWith(call, convertScalar(call.load(0, 0), call.inputs[0].dtype, call.results[0].dtype));
  return success();
}

Result<Value> fullLikeElement(ElementContext& context, std::span<const Value>) {
  BATON_TRY_ASSIGN(const Value value, context.read(1, {}));
  return loop::cast(value, context.wantedType());
}
Result<void> fullLikeReference(ReferenceCall& call) {
  fillWith(call, convertScalar(call.load(1, 0), call.inputs[1].dtype, call.results[0].dtype));
  return success();
}

/// In the type of the inputs (f32 for storage types), then cast.
Result<Value> arangeElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const Value start, context.read(0, {}));
  BATON_TRY_ASSIGN(const Value step, context.read(2, {}));
  const DType wide = accumulationType(context.inputType(0));
  const Value value = widen(start) + loop::cast(index[0], wide) * widen(step);
  return loop::cast(value, context.wantedType());
}
Result<void> arangeReference(ReferenceCall& call) {
  const DType type = call.inputs[0].dtype;
  const DType wide = accumulationType(type);
  const int64_t count = elementCount(call.results[0].shape);
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t operands[] = {convertScalar(call.load(0, 0), type, wide),
                                 convertScalar(scalarBits(i), DType::I64, wide),
                                 convertScalar(call.load(2, 0), type, wide)};
    const uint64_t value = computeScalar(
        wide, operands,
        [](auto start, auto n, auto step) {
          using T = decltype(start);
          if constexpr (std::is_floating_point_v<T>)
            return start + n * step;
          else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(static_cast<uint64_t>(start) +
                                  static_cast<uint64_t>(n) * static_cast<uint64_t>(step));
          else
            return start;
        },
        std::make_index_sequence<3>());
    call.store(0, i, convertScalar(value, wide, call.results[0].dtype));
  }
  return success();
}

Result<Value> shapeOfElement(ElementContext& context, std::span<const Value> index) {
  Emitter& emitter = context.emitter();
  Value result = emitter.number(0);
  const auto dims = context.inputDims(0);
  for (size_t axis = 0; axis < dims.size(); ++axis)
    result = loop::select(loop::equal(index[0], emitter.number(static_cast<int64_t>(axis))),
                          emitter.dim(dims[axis]), result);
  return loop::cast(result, context.wantedType());
}
Result<void> shapeOfReference(ReferenceCall& call) {
  for (size_t axis = 0; axis < call.inputs[0].shape.size(); ++axis)
    call.store(0, static_cast<int64_t>(axis),
               convertScalar(scalarBits(call.extent(0, axis)), DType::I64, call.results[0].dtype));
  return success();
}

}  // namespace baton::ops

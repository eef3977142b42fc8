// Operators that make tensors from shapes and scalars, and shapes from tensors.
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

ShapeSource fillShape(const OpCall& call) { return {FillAttrs{*call.attrs}.shape(), 0, "shape"}; }
ShapeSource fullShape(const OpCall& call) { return {FullAttrs{*call.attrs}.shape(), 1, "shape"}; }

std::optional<int64_t> lengthOf(const ShapeSource& source) {
  if (source.attribute == nullptr || source.attribute->size() != 1) return std::nullopt;
  return source.attribute->front().asConstant();
}

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
  return oneResult(dtype, *rank, lengthOf(fillShape(call)));
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
  if (attrs.dtype())
    BATON_TRY(context.provideResultDType(0, *attrs.dtype()));
  else
    BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY_ASSIGN(const std::optional<int> rank, shapeRank(call, context, fullShape(call)));
  const std::optional<DType> dtype = attrs.dtype() ? attrs.dtype() : context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank, lengthOf(fullShape(call)));
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
  std::optional<int64_t> length;
  const auto start = context.constantInts(0);
  const auto stop = context.constantInts(1);
  const auto step = context.constantInts(2);
  if (start && stop && step && (*step)[0] == 1 && (*start)[0] == 0 && (*stop)[0] >= 0) length = (*stop)[0];
  return oneResult(*dtype, 1, length);
}

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
  const DimExpr zero;
  DimExpr count;
  if (context.decide(step, Relation::Gt, zero) == Truth::True) {
    count = ceilDiv(stop - start, step);
  } else if (context.decide(step, Relation::Lt, zero) == Truth::True) {
    count = ceilDiv(start - stop, zero - step);
  } else {
    BATON_TRY(context.require(step, Relation::Ne, zero, "arange: the step is {0}"));
    const DimExpr sign = max(min(step, DimExpr::constant(1)), DimExpr::constant(-1));
    count = ceilDiv((stop - start) * sign, max(max(step, zero - step), DimExpr::constant(1)));
  }
  if (context.decide(count, Relation::Ge, zero) != Truth::True) count = max(count, zero);
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
    out.push_back(start->front() + step->front() * DimExpr::constant(static_cast<int64_t>(i)));
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
  return oneResult(dtype, 1, *rank);
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

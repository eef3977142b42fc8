// Positions as rows of a matrix: sparse_to_dense, sparse_fill_empty_rows, sparse_reshape.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/checked_math.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> sparsePositionsStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 2));
  BATON_TRY(context.requireRank(1, 1));
  return oneResult(DType::I64, 2);
}

namespace {

/// Numbers of a position, and extents of the shape.
Result<void> requireAxes(const OpCall& call, DimsContext& context, size_t positions, size_t shape) {
  context.blame(positions);
  const DimExpr numbers = context.dims(positions)[1];
  const DimExpr extents = context.dims(shape)[0];
  return context.require(
      numbers, Relation::Eq, extents,
      fmt::format("{}: the positions have {{0}} numbers for a shape of {{1}} extents", call.op->name));
}

}  // namespace

Result<std::vector<TensorDims>> sparsePositionsDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireAxes(call, context, 0, 1));
  return std::vector<TensorDims>{{copyDims(context, 0)}};
}
Result<loop::Value> sparsePositionsElement(ElementContext& context, std::span<const loop::Value> index) {
  loop::Builder& b = context.builder();
  BATON_TRY_ASSIGN(const loop::Value given, context.read(0, index));
  BATON_TRY_ASSIGN(const loop::Value own, context.read(1, {index[1]}));
  const loop::Value position = loop::cast(given, DType::I64);
  const loop::Value extent = loop::cast(own, DType::I64);
  // Operators of several names are written with this one, and the place of the call says which.
  const uint32_t wrong = b.message("a sparse tensor: a position is out of range: {0} for an extent of {1}");
  b.ifThen((position < b.i64(0)) | (position >= extent), [&] { b.fail(wrong, {position, extent}); });
  return position;
}
Result<void> sparsePositionsReference(ReferenceCall& call) {
  const int64_t axes = call.extent(1, 0);
  for (int64_t i = 0; i < elementCount(call.inputs[0].shape); ++i) {
    const auto position = static_cast<int64_t>(call.load(0, i));
    if (position < 0 || position >= static_cast<int64_t>(call.load(1, i % axes)))
      return programError(call.call, "a position is out of range");
    call.store(0, i, static_cast<uint64_t>(position));
  }
  return success();
}

namespace {

class PositionExpansion {
 public:
  explicit PositionExpansion(ExpandContext& context) : context_(context) {}

  Result<TensorId> apply(std::string_view op, const std::vector<TensorId>& inputs) {
    return context_.make(op, {}, inputs);
  }
  TensorId number(int64_t value) { return context_.scalar(DType::I64, static_cast<double>(value)); }
  Result<TensorId> joined(TensorId a, TensorId b) { return apply("concatenate", {a, b}); }
  Result<TensorId> filled(TensorId value, std::vector<DimExpr> shape) {
    ir::Attrs attrs;
    attrs.set("shape", std::move(shape));
    return context_.make("full", attrs, {value});
  }

 private:
  ExpandContext& context_;
};

/// Which inputs of sparse_to_dense and its dynamic form are what.
struct DenseInputs {
  size_t values;
  std::optional<size_t> defaultValue;
};
DenseInputs denseInputs(const OpCall& call, size_t values) {
  return {values, call.inputCount > values + 1 ? std::optional(values + 1) : std::nullopt};
}

Result<std::optional<StructureResult>> toDenseStructure(const OpCall& call, StructureContext& context,
                                                        const DenseInputs& inputs,
                                                        std::optional<int> resultRank) {
  BATON_TRY(context.provideResultDTypeOf(0, inputs.values));
  if (inputs.defaultValue) {
    BATON_TRY(context.requireSameDType(inputs.values, *inputs.defaultValue));
    BATON_TRY(context.requireRank(*inputs.defaultValue, 0));
  }
  const std::optional<int> positions = context.rank(0);
  const std::optional<int> values = context.rank(inputs.values);
  if (positions && *positions > 2)
    return opError(call, fmt::format("the positions have rank {}; expected 0, 1 or 2", *positions));
  const std::optional<DType> dtype = context.dtype(inputs.values);
  if (!positions || !values || !resultRank || !dtype) return std::nullopt;
  if (*positions < 2 && *resultRank != 1)
    return opError(call, fmt::format("positions of rank {} are of one axis; the shape has {} extents",
                                     *positions, *resultRank));
  context.blame(inputs.values);
  if (*values > std::min(*positions, 1))
    return opError(
        call, fmt::format("the values have rank {}; expected 0{}", *values, *positions > 0 ? " or 1" : ""));
  return oneResult(*dtype, *resultRank);
}

Result<std::vector<TensorDims>> toDenseDims(const OpCall& call, DimsContext& context,
                                            const DenseInputs& inputs, std::vector<DimExpr> shape) {
  const std::vector<DimExpr> positions = copyDims(context, 0);
  const std::vector<DimExpr> values = copyDims(context, inputs.values);
  context.blame(0);
  if (positions.size() == 2)
    BATON_TRY(context.require(
        positions[1], Relation::Eq, DimExpr::constant(static_cast<int64_t>(shape.size())),
        fmt::format("{}: the positions have {{0}} numbers for a shape of {{1}} extents", call.op->name)));
  context.blame(inputs.values);
  if (!values.empty())
    BATON_TRY(context.require(values[0], Relation::Eq, positions[0],
                              fmt::format("{}: {{0}} values are given for {{1}} positions", call.op->name)));
  return std::vector<TensorDims>{{std::move(shape)}};
}

Result<void> writeToDense(ExpandContext& context, const DenseInputs& inputs) {
  PositionExpansion e(context);
  const std::vector<DimExpr> shape = context.resultDims();
  const TensorId given = context.input(0);
  const DimExpr axes = DimExpr::constant(static_cast<int64_t>(shape.size()));
  const DimExpr count = context.rank(given) == 0 ? one() : context.dims(given)[0];
  BATON_TRY_ASSIGN(const TensorId rows, context.reshape(given, {count, axes}));
  const TensorId nothing =
      inputs.defaultValue ? context.input(*inputs.defaultValue) : context.scalar(context.resultType(), 0);
  BATON_TRY_ASSIGN(const TensorId dense, e.filled(nothing, shape));
  ir::Attrs wide;
  wide.set("dtype", DType::I64);
  BATON_TRY_ASSIGN(const TensorId extents, context.make("shape_of", wide, {dense}));
  BATON_TRY_ASSIGN(const TensorId positions, e.apply("sparse.positions", {rows, extents}));
  BATON_TRY_ASSIGN(const TensorId columns, e.apply("transpose", {positions}));
  TensorId values = context.input(inputs.values);
  if (context.rank(values) == 0) {
    BATON_TRY_ASSIGN(values, e.filled(values, {count}));
  }
  BATON_TRY_ASSIGN(const TensorId result, e.apply("scatter_nd", {dense, columns, values}));
  context.become({result});
  return success();
}

Result<void> plainToDense(ReferenceCall& call, const DenseInputs& inputs) {
  const auto shape = std::span<const int64_t>(call.results[0].shape);
  const auto axes = static_cast<int64_t>(shape.size());
  const int64_t count = call.inputs[0].shape.empty() ? 1 : call.extent(0, 0);
  for (int64_t i = 0; i < elementCount(shape); ++i)
    call.store(0, i, inputs.defaultValue ? call.load(*inputs.defaultValue, 0) : 0);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> at;
    for (int64_t d = 0; d < axes; ++d) {
      at.push_back(static_cast<int64_t>(call.load(0, i * axes + d)));
      if (at.back() < 0 || at.back() >= shape[static_cast<size_t>(d)])
        return programError(call.call, "a position is out of range");
    }
    call.store(0, at, call.load(inputs.values, call.inputs[inputs.values].shape.empty() ? 0 : i));
  }
  return success();
}

}  // namespace

Result<std::optional<StructureResult>> sparseToDenseStructure(const OpCall& call, StructureContext& context) {
  return toDenseStructure(call, context, denseInputs(call, 1),
                          static_cast<int>(SparseToDenseAttrs{*call.attrs}.outputShape().size()));
}
Result<std::vector<TensorDims>> sparseToDenseDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr>& given = SparseToDenseAttrs{*call.attrs}.outputShape();
  BATON_TRY_ASSIGN(std::vector<DimExpr> shape, shapeExtents(call, context, {&given, 0, "output_shape"}));
  return toDenseDims(call, context, denseInputs(call, 1), std::move(shape));
}
Result<void> sparseToDenseLegal(ExpandContext& context) {
  return writeToDense(context, denseInputs(context.call(), 1));
}
Result<void> sparseToDenseReference(ReferenceCall& call) {
  return plainToDense(call, denseInputs(call.call, 1));
}

Result<std::optional<StructureResult>> dynSparseToDenseStructure(const OpCall& call,
                                                                 StructureContext& context) {
  BATON_TRY(context.requireRank(1, 1));
  BATON_TRY_ASSIGN(const std::optional<int> rank, shapeRank(call, context, {nullptr, 1, "shape"}));
  return toDenseStructure(call, context, denseInputs(call, 2), rank);
}
Result<std::vector<TensorDims>> dynSparseToDenseDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> shape, shapeExtents(call, context, {nullptr, 1, "shape"}));
  return toDenseDims(call, context, denseInputs(call, 2), std::move(shape));
}
Result<void> dynSparseToDenseLegal(ExpandContext& context) {
  return writeToDense(context, denseInputs(context.call(), 2));
}
Result<void> dynSparseToDenseReference(ReferenceCall& call) {
  return plainToDense(call, denseInputs(call.call, 2));
}

Result<std::optional<StructureResult>> sparseFillEmptyRowsStructure(const OpCall& call,
                                                                    StructureContext& context) {
  BATON_TRY(context.requireRank(0, 2));
  BATON_TRY(context.requireRank(1, 1));
  BATON_TRY(context.requireRank(2, 1));
  BATON_TRY(context.requireSameDType(1, 3));
  // TVM's has a vector of one element.
  const std::optional<int> rank = context.rank(3);
  context.blame(3);
  if (rank && *rank > 1)
    return opError(call, fmt::format("the default value has rank {}; expected 0 or 1", *rank));
  const std::optional<DType> index = context.dtype(0);
  const std::optional<DType> dtype = context.dtype(1);
  if (!index || !dtype || !rank) return std::nullopt;
  return StructureResult{{{*index, 2}, {*dtype, 1}, {DType::Bool, 1}}, true};
}
Result<std::vector<TensorDims>> sparseFillEmptyRowsDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireAxes(call, context, 0, 2));
  const std::vector<DimExpr> positions = copyDims(context, 0);
  context.blame(1);
  BATON_TRY(context.require(DimExpr(context.dims(1)[0]), Relation::Eq, positions[0],
                            "sparse_fill_empty_rows: {0} values are given for {1} positions"));
  context.blame(3);
  if (!context.dims(3).empty())
    BATON_TRY(context.require(DimExpr(context.dims(3)[0]), Relation::Eq, one(),
                              "sparse_fill_empty_rows: {0} default values are given; expected {1}"));
  context.blame(2);
  const std::vector<DimExpr>* shape = context.valuesOrSymbols(2);
  const DimExpr rows = shape != nullptr && !shape->empty() ? (*shape)[0] : context.fresh("rows");
  BATON_TRY(context.require(DimExpr(context.dims(2)[0]), Relation::Ge, one(),
                            "sparse_fill_empty_rows: the shape has no extents"));
  BATON_TRY(context.require(rows, Relation::Ge, DimExpr(),
                            "sparse_fill_empty_rows: the number of rows is negative ({0})"));
  const DimExpr filled = context.fresh("filled");
  return std::vector<TensorDims>{{{filled, positions[1]}}, {{filled}}, {{rows}}};
}
Result<void> sparseFillEmptyRowsLegal(ExpandContext& context) {
  PositionExpansion e(context);
  const TensorId values = context.input(1);
  const DType index = context.dtype(context.input(0));
  BATON_TRY_ASSIGN(const TensorId positions,
                   e.apply("sparse.positions", {context.input(0), context.input(2)}));
  const std::vector<DimExpr> dims = context.dims(positions);
  // How many positions each row has.
  ir::Attrs columns;
  columns.set("axis", int64_t{1});
  BATON_TRY_ASSIGN(const TensorId rows, context.make("take", columns, {positions, e.number(0)}));
  BATON_TRY_ASSIGN(const TensorId rowCount, context.takeRows(context.input(2), e.number(0)));
  BATON_TRY_ASSIGN(const TensorId wideCount, context.cast(rowCount, DType::I64));
  BATON_TRY_ASSIGN(const TensorId all, e.apply("arange", {e.number(0), wideCount, e.number(1)}));
  BATON_TRY_ASSIGN(const TensorId zeros, e.apply("zeros_like", {all}));
  BATON_TRY_ASSIGN(const TensorId ones, e.apply("ones_like", {rows}));
  ir::Attrs adding;
  adding.set("reduction", std::string("add"));
  BATON_TRY_ASSIGN(const TensorId counts, context.make("scatter_elements", adding, {zeros, rows, ones}));
  BATON_TRY_ASSIGN(const TensorId isEmpty, e.apply("equal", {counts, e.number(0)}));
  // Those without get one, in column 0; then all are put in order.
  BATON_TRY_ASSIGN(const TensorId found, e.apply("argwhere", {isEmpty}));
  BATON_TRY_ASSIGN(const TensorId more, context.cast(found, DType::I64));
  const DimExpr added = context.dims(more)[0];
  BATON_TRY_ASSIGN(const TensorId firstColumn, e.filled(e.number(1), {one()}));
  BATON_TRY_ASSIGN(const TensorId otherColumns, e.filled(e.number(0), {dims[1] - one()}));
  BATON_TRY_ASSIGN(const TensorId isFirst, e.joined(firstColumn, otherColumns));
  BATON_TRY_ASSIGN(const TensorId places, e.apply("multiply", {more, isFirst}));
  BATON_TRY_ASSIGN(const TensorId newRows, context.reshape(more, {added}));
  BATON_TRY_ASSIGN(const TensorId allPositions, e.joined(positions, places));
  BATON_TRY_ASSIGN(const TensorId allRows, e.joined(rows, newRows));
  BATON_TRY_ASSIGN(const TensorId value, context.reshape(context.input(3), {}));
  BATON_TRY_ASSIGN(const TensorId newValues, e.filled(value, {added}));
  BATON_TRY_ASSIGN(const TensorId allValues, e.joined(values, newValues));
  ir::Attrs typed;
  typed.set("dtype", DType::I64);
  BATON_TRY_ASSIGN(const TensorId order, context.make("argsort", typed, {allRows}));
  BATON_TRY_ASSIGN(const TensorId orderedPositions, context.takeRows(allPositions, order));
  BATON_TRY_ASSIGN(const TensorId orderedValues, context.takeRows(allValues, order));
  BATON_TRY_ASSIGN(const TensorId result, context.cast(orderedPositions, index));
  context.become({result, orderedValues, isEmpty});
  return success();
}
Result<void> sparseFillEmptyRowsReference(ReferenceCall& call) {
  const int64_t count = call.extent(0, 0);
  const int64_t axes = call.extent(0, 1);
  const auto rows = static_cast<int64_t>(call.load(2, 0));
  std::vector<std::vector<int64_t>> byRow(static_cast<size_t>(rows));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t d = 0; d < axes; ++d) {
      const auto position = static_cast<int64_t>(call.load(0, i * axes + d));
      if (position < 0 || position >= static_cast<int64_t>(call.load(2, d)))
        return programError(call.call, "a position is out of range");
      if (d == 0) byRow[static_cast<size_t>(position)].push_back(i);
    }
  const int64_t filled = count + std::ranges::count(byRow, std::vector<int64_t>());
  BATON_TRY(call.allocate(0, {filled, axes}));
  BATON_TRY(call.allocate(1, {filled}));
  if (call.results[2].shape.empty()) BATON_TRY(call.allocate(2, {rows}));
  int64_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const std::vector<int64_t>& own = byRow[static_cast<size_t>(row)];
    call.store(2, row, own.empty() ? 1 : 0);
    if (own.empty()) {
      call.store(0, next * axes, static_cast<uint64_t>(row));
      call.store(1, next++, call.load(3, 0));
    }
    for (const int64_t i : own) {
      for (int64_t d = 0; d < axes; ++d) call.store(0, next * axes + d, call.load(0, i * axes + d));
      call.store(1, next++, call.load(1, i));
    }
  }
  return success();
}

Result<std::optional<StructureResult>> sparseReshapeStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 2));
  BATON_TRY(context.requireRank(1, 1));
  BATON_TRY(context.requireRank(2, 1));
  const std::optional<DType> index = context.dtype(0);
  const std::optional<DType> shape = context.dtype(2);
  if (!index || !shape) return std::nullopt;
  return StructureResult{{{*index, 2}, {*shape, 1}}, true};
}
Result<std::vector<TensorDims>> sparseReshapeDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireAxes(call, context, 0, 1));
  const std::vector<DimExpr> shape = copyDims(context, 2);
  return std::vector<TensorDims>{{{DimExpr(context.dims(0)[0]), shape[0]}}, {shape}};
}
Result<void> sparseReshapeLegal(ExpandContext& context) {
  PositionExpansion e(context);
  BATON_TRY_ASSIGN(const TensorId positions,
                   e.apply("sparse.positions", {context.input(0), context.input(1)}));
  BATON_TRY_ASSIGN(const TensorId before, context.cast(context.input(1), DType::I64));
  BATON_TRY_ASSIGN(const TensorId shape, e.apply("sparse.shape", {context.input(1), context.input(2)}));
  // How far it is from one position to the next along each axis: products of the extents behind it.
  ir::Attrs exclusive;
  exclusive.set("exclusive", true);
  BATON_TRY_ASSIGN(const TensorId backwards, e.apply("reverse", {before}));
  BATON_TRY_ASSIGN(const TensorId behind, context.make("cumprod", exclusive, {backwards}));
  BATON_TRY_ASSIGN(const TensorId strides, e.apply("reverse", {behind}));
  BATON_TRY_ASSIGN(const TensorId distances, e.apply("multiply", {positions, strides}));
  ir::Attrs along;
  along.set("axis", std::vector<int64_t>{1});
  BATON_TRY_ASSIGN(const TensorId places, context.make("sum", along, {distances}));
  BATON_TRY_ASSIGN(const TensorId columns, e.apply("unravel_index", {places, shape}));
  BATON_TRY_ASSIGN(const TensorId rows, e.apply("transpose", {columns}));
  BATON_TRY_ASSIGN(const TensorId first, context.cast(rows, context.resultType(0)));
  BATON_TRY_ASSIGN(const TensorId second, context.cast(shape, context.resultType(1)));
  context.become({first, second});
  return success();
}

namespace {

/// Of extents: their product without a -1, or nothing where it exceeds 63 bits.
std::optional<int64_t> plainCount(std::vector<int64_t> shape) {
  std::erase(shape, -1);
  return checkedElementCount(shape);
}

/// The new shape with what is left in place of a -1.
Result<std::vector<int64_t>> plainShape(const ReferenceCall& call, size_t before, size_t wanted) {
  std::vector<int64_t> shapes[2];
  for (size_t i = 0; i < 2; ++i)
    for (int64_t d = 0; d < call.extent(i == 0 ? before : wanted, 0); ++d)
      shapes[i].push_back(static_cast<int64_t>(call.load(i == 0 ? before : wanted, d)));
  const auto open = std::ranges::count(shapes[1], -1);
  const auto count = plainCount(shapes[0]);
  const auto others = plainCount(shapes[1]);
  if (std::ranges::count(shapes[0], -1) > 0 || open > 1 || !count || !others)
    return programError(call.call, "a shape is wrong");
  const int64_t rest = *others == 0 ? 0 : *count / *others;
  if (*others * (open == 1 ? rest : 1) != *count) return programError(call.call, "the shapes do not fit");
  std::ranges::replace(shapes[1], -1, rest);
  return std::move(shapes[1]);
}

}  // namespace

Result<void> sparseReshapeReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const std::vector<int64_t> shape, plainShape(call, 1, 2));
  const int64_t axes = call.extent(1, 0);
  for (size_t d = 0; d < shape.size(); ++d)
    call.store(1, static_cast<int64_t>(d),
               convertScalar(static_cast<uint64_t>(shape[d]), DType::I64, call.results[1].dtype));
  for (int64_t i = 0; i < call.extent(0, 0); ++i) {
    int64_t place = 0;
    for (int64_t d = 0; d < axes; ++d) {
      const auto position = static_cast<int64_t>(call.load(0, i * axes + d));
      const auto extent = static_cast<int64_t>(call.load(1, d));
      if (position < 0 || position >= extent) return programError(call.call, "a position is out of range");
      place = place * extent + position;
    }
    for (size_t d = shape.size(); d-- > 0; place /= shape[d])
      call.store(0, i * static_cast<int64_t>(shape.size()) + static_cast<int64_t>(d),
                 convertScalar(static_cast<uint64_t>(place % shape[d]), DType::I64, call.results[0].dtype));
  }
  return success();
}

Result<std::optional<StructureResult>> sparseShapeStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 1));
  BATON_TRY(context.requireRank(1, 1));
  return oneResult(DType::I64, 1);
}
Result<std::vector<TensorDims>> sparseShapeDims(const OpCall&, DimsContext& context) {
  return std::vector<TensorDims>{{copyDims(context, 1)}};
}

namespace {

using loop::LoopKind;
using loop::Value;

/// Of a shape that is input `input`: the product of its extents, or the greatest number where it is greater,
/// and how many are -1, which do not count as factors.
struct ShapeCount {
  Value product;
  Value open;
};
Result<ShapeCount> countElements(NestContext& context, size_t input) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  const loop::LocalIndex product = b.local(DType::I64);
  const loop::LocalIndex open = b.local(DType::I64);
  b.set(product, emitter.number(1));
  const Value axis = emitter.beginLoop(LoopKind::Serial, emitter.dim(context.inputDims(input)[0]));
  BATON_TRY_ASSIGN(const Value given, context.read(input, {axis}));
  const Value extent = loop::cast(given, DType::I64);
  const uint32_t wrong = b.message("sparse.shape: a shape is wrong: it has an extent of {0}");
  b.ifThen(extent < emitter.number(-1), [&] { b.fail(wrong, {extent}); });
  const Value isOpen = extent < emitter.number(0);
  b.set(product, b.select(isOpen, b.get(product), emitter.mulAtMost(b.get(product), extent)));
  b.set(open, b.get(open) + loop::cast(isOpen, DType::I64));
  emitter.end();
  return ShapeCount{b.get(product), b.get(open)};
}

}  // namespace

Result<void> sparseShapeNest(NestContext& context) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  BATON_TRY_ASSIGN(const ShapeCount before, countElements(context, 0));
  BATON_TRY_ASSIGN(const ShapeCount wanted, countElements(context, 1));
  const Value one = emitter.number(1);
  const Value most = emitter.number(INT64_MAX);
  const uint32_t wrong = b.message("sparse.shape: a shape is wrong: {0} extents are -1, where {1} may be");
  b.ifThen(before.open >= one, [&] { b.fail(wrong, {before.open, emitter.number(0)}); });
  b.ifThen(wanted.open > one, [&] { b.fail(wrong, {wanted.open, one}); });
  const uint32_t large = b.message("sparse.shape: a shape is wrong: it has too many elements");
  b.ifThen(loop::equal(before.product, most) | loop::equal(wanted.product, most), [&] { b.fail(large, {}); });
  const Value isOpen = loop::equal(wanted.open, one);
  const Value quotient = emitter.floorDiv(before.product, emitter.max(wanted.product, one));
  const Value rest = b.select(loop::equal(wanted.product, emitter.number(0)), emitter.number(0), quotient);
  const Value factor = b.select(isOpen, rest, one);
  const uint32_t unlike =
      b.message("sparse.shape: the shapes do not fit: {0} elements become {1}, or as often as a -1 says");
  b.ifThen(loop::notEqual(emitter.mul(wanted.product, factor), before.product),
           [&] { b.fail(unlike, {before.product, wanted.product}); });
  const Value axis = emitter.beginLoop(LoopKind::Serial, emitter.dim(context.inputDims(1)[0]));
  BATON_TRY_ASSIGN(const Value given, context.read(1, {axis}));
  const Value extent = loop::cast(given, DType::I64);
  BATON_TRY(context.sink(std::span(&axis, 1), b.select(extent < emitter.number(0), rest, extent)));
  emitter.end();
  return success();
}
Result<void> sparseShapeReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const std::vector<int64_t> shape, plainShape(call, 0, 1));
  for (size_t d = 0; d < shape.size(); ++d)
    call.store(0, static_cast<int64_t>(d), static_cast<uint64_t>(shape[d]));
  return success();
}

}  // namespace baton::ops

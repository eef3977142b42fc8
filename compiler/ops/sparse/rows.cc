// Sparse matrices of rows with pointers: nn.sparse_dense, nn.sparse_transpose, nn.sparse_add.
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// Of the sparse matrix whose data is input `first`: one index for each element, and a pointer at least.
Result<void> requireElements(const OpCall& call, DimsContext& context, size_t first) {
  context.blame(first + 1);
  const DimExpr elements = context.dims(first)[0];
  const DimExpr indices = context.dims(first + 1)[0];
  const DimExpr pointers = context.dims(first + 2)[0];
  BATON_TRY(context.require(indices, Relation::Eq, elements,
                            fmt::format("{}: {{0}} indices are given for {{1}} elements", call.op->name)));
  context.blame(first + 2);
  return context.require(pointers, Relation::Ge, one(),
                         fmt::format("{}: {{0}} row pointers are given; expected 1 or more", call.op->name));
}

Result<void> requireVectors(StructureContext& context, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) BATON_TRY(context.requireRank(i, 1));
  return success();
}

/// Extents of a block of the sparse matrix: 1 for one of single elements.
struct BlockExtents {
  DimExpr rows = one();
  DimExpr columns = one();
};
BlockExtents blockOf(std::span<const DimExpr> sparse) {
  return sparse.size() == 3 ? BlockExtents{sparse[1], sparse[2]} : BlockExtents{};
}

}  // namespace

Result<std::optional<StructureResult>> sparseDenseStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireSameDType(2, 3));
  BATON_TRY(context.requireRank(0, 2));
  BATON_TRY(requireVectors(context, 2, 3));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(1);
  if (rank && *rank != 1 && *rank != 3)
    return opError(call, fmt::format("the data of the sparse matrix has rank {}; expected 1 or 3", *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, 2);
}
Result<std::vector<TensorDims>> sparseDenseDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireElements(call, context, 1));
  const std::vector<DimExpr> data = copyDims(context, 0);
  const BlockExtents block = blockOf(context.dims(1));
  context.blame(0);
  if (!block.columns.isConstant() || block.columns.asConstant() != 1) {
    context.blame(1);
    BATON_TRY(context.require(block.columns, Relation::Ge, one(),
                              "nn.sparse_dense: the blocks have {0} columns; expected 1 or more"));
    context.blame(0);
    BATON_TRY(context.require(
        floorMod(data[1], max(block.columns, one())), Relation::Eq, DimExpr(),
        "nn.sparse_dense: the data has {0} columns, which are no whole number of blocks of {1}",
        {data[1], block.columns}));
  }
  const DimExpr rows = (DimExpr(context.dims(3)[0]) - one()) * block.rows;
  return std::vector<TensorDims>{SparseDenseAttrs{*call.attrs}.sparseLhs() ? TensorDims{{rows, data[0]}}
                                                                           : TensorDims{{data[0], rows}}};
}

namespace {

using loop::LoopKind;
using loop::Value;

/// Who a message is about. Operators of several names are written with `sparse.rows`, and the place of the
/// call says which.
std::string_view subject(const OpCall& call) {
  return call.op->name == "sparse.rows" ? "a sparse matrix" : call.op->name;
}

/// Where the elements of a row begin and end: pointers at `row` and behind it, of which the first is 0 and
/// the last `count`. The kernel fails otherwise.
struct RowRange {
  Value begin;
  Value end;
};
Result<RowRange> rowRange(CallContext& context, size_t pointers, Value row, Value rows, Value count) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  BATON_TRY_ASSIGN(const Value first, context.read(pointers, {row}));
  BATON_TRY_ASSIGN(const Value last, context.read(pointers, {emitter.add(row, emitter.number(1))}));
  const Value begin = loop::cast(first, DType::I64);
  const Value end = loop::cast(last, DType::I64);
  const uint32_t wrong = b.message(fmt::format(
      "{}: row pointers {{0}} and {{1}} for {{2}} elements; expected 0 first, none less than the one before, "
      "and the number of elements last",
      subject(context.call())));
  const Value zero = emitter.number(0);
  const Value isFirst = loop::equal(row, zero);
  const Value isLast = loop::equal(row, emitter.sub(rows, emitter.number(1)));
  const Value isWrong = (begin < zero) | (end < begin) | (end > count) |
                        (isFirst & loop::notEqual(begin, zero)) | (isLast & loop::notEqual(end, count));
  b.ifThen(isWrong, [&] { b.fail(wrong, {begin, end, count}); });
  return RowRange{begin, end};
}

Value checkedColumn(CallContext& context, Value index, Value extent) {
  loop::Builder& b = context.builder();
  const Value column = loop::cast(index, DType::I64);
  const uint32_t wrong = b.message(
      fmt::format("{}: an index is out of range: {{0}} for an extent of {{1}}", context.call().op->name));
  b.ifThen((column < b.i64(0)) | (column >= extent), [&] { b.fail(wrong, {column, extent}); });
  return column;
}

Value fused(loop::Builder& b, Value x, Value y, Value sum) {
  return isFloat(sum.type()) ? b.fma(x, y, sum) : sum + x * y;
}

/// The same on numbers: nothing for pointers that are wrong. The only one of a matrix without rows may be
/// anything.
std::optional<std::vector<int64_t>> plainPointers(const ReferenceCall& call, size_t pointers, int64_t count) {
  if (call.extent(pointers, 0) == 1) return std::vector<int64_t>{0};
  std::vector<int64_t> out;
  for (int64_t i = 0; i < call.extent(pointers, 0); ++i) {
    out.push_back(static_cast<int64_t>(call.load(pointers, i)));
    if (out.back() < 0 || out.back() > count || (i > 0 && out[out.size() - 2] > out.back()))
      return std::nullopt;
  }
  if (out.front() != 0 || out.back() != count) return std::nullopt;
  return out;
}

Error wrongPointers(const ReferenceCall& call) {
  return programError(call.call, "the row pointers are wrong");
}
Error wrongIndex(const ReferenceCall& call) { return programError(call.call, "an index is out of range"); }

}  // namespace

Result<void> sparseDenseNest(NestContext& context) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  const bool isLeft = SparseDenseAttrs{*context.call().attrs}.sparseLhs();
  const auto data = context.inputDims(0);
  const bool hasBlocks = context.inputDims(1).size() == 3;
  const BlockExtents block = blockOf(context.inputDims(1));
  const DType wide = accumulationType(context.resultType());
  const DimExpr blockRows = DimExpr(context.inputDims(3)[0]) - one();
  const Value rows = emitter.dim(blockRows);
  const Value count = emitter.dim(context.inputDims(1)[0]);
  const Value columns = emitter.dim(floorDiv(data[1], max(block.columns, one())));
  const Value rowsInBlock = emitter.dim(block.rows);
  const Value columnsInBlock = emitter.dim(block.columns);
  const Value others = emitter.dim(data[0]);
  // Where there is nothing to compute, nobody looks at the pointers.
  const Value isSome =
      emitter.mul(emitter.min(rowsInBlock, emitter.number(1)), emitter.min(others, emitter.number(1)));
  const Value row = beginParallel(emitter, emitter.mul(rows, isSome), 1024);
  BATON_TRY_ASSIGN(const RowRange range, rowRange(context, 3, row, rows, count));
  const Value inBlock = emitter.beginLoop(LoopKind::Serial, rowsInBlock);
  const Value other = emitter.beginLoop(LoopKind::Serial, others);
  const loop::LocalIndex sum = b.local(wide);
  b.set(sum, b.constantBits(wide, 0));
  const Value step = emitter.beginLoop(LoopKind::Serial, emitter.sub(range.end, range.begin));
  const Value at = emitter.add(range.begin, step);
  BATON_TRY_ASSIGN(const Value index, context.read(2, {at}));
  const Value column = checkedColumn(context, index, columns);
  const Value k = emitter.beginLoop(LoopKind::Serial, columnsInBlock);
  BATON_TRY_ASSIGN(const Value sparse, hasBlocks ? context.read(1, {at, inBlock, k}) : context.read(1, {at}));
  BATON_TRY_ASSIGN(const Value dense,
                   context.read(0, {other, emitter.add(emitter.mul(column, columnsInBlock), k)}));
  b.set(sum, fused(b, loop::cast(sparse, wide), loop::cast(dense, wide), b.get(sum)));
  emitter.end();
  emitter.end();
  const Value element = loop::cast(b.get(sum), context.resultType());
  const Value place = emitter.add(emitter.mul(row, rowsInBlock), inBlock);
  const Value index2[] = {isLeft ? place : other, isLeft ? other : place};
  BATON_TRY(context.sink(index2, element));
  emitter.end();
  emitter.end();
  emitter.end();
  return success();
}

namespace {

template <class T>
Result<void> plainSparseDense(ReferenceCall& call) {
  const bool isLeft = SparseDenseAttrs{*call.call.attrs}.sparseLhs();
  const DType type = call.results[0].dtype;
  const DType wide = accumulationType(type);
  const bool hasBlocks = call.inputs[1].shape.size() == 3;
  const int64_t height = hasBlocks ? call.extent(1, 1) : 1;
  const int64_t width = hasBlocks ? call.extent(1, 2) : 1;
  const auto load = [&](size_t input, int64_t at) {
    return scalarFromBits<T>(convertScalar(call.load(input, at), type, wide));
  };
  // Where there is nothing to compute, nobody looks at the pointers.
  if (elementCount(call.results[0].shape) == 0) return success();
  const auto pointers = plainPointers(call, 3, call.extent(1, 0));
  if (!pointers) return wrongPointers(call);
  for (int64_t row = 0; row < call.results[0].shape[isLeft ? 0 : 1]; ++row)
    for (int64_t other = 0; other < call.extent(0, 0); ++other) {
      T sum{};
      for (int64_t at = (*pointers)[static_cast<size_t>(row / height)];
           at < (*pointers)[static_cast<size_t>(row / height) + 1]; ++at) {
        const auto index = static_cast<int64_t>(call.load(2, at));
        if (index < 0 || index >= call.extent(0, 1) / width) return wrongIndex(call);
        for (int64_t k = 0; k < width; ++k) {
          const T x = load(1, (at * height + row % height) * width + k);
          const T y = load(0, other * call.extent(0, 1) + index * width + k);
          if constexpr (std::is_floating_point_v<T>)
            sum = std::fma(x, y, sum);
          else
            sum = static_cast<T>(static_cast<uint64_t>(sum) +
                                 static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
        }
      }
      const int64_t place[] = {isLeft ? row : other, isLeft ? other : row};
      call.store(0, place, convertScalar(scalarBits(sum), wide, type));
    }
  return success();
}

}  // namespace

Result<void> sparseDenseReference(ReferenceCall& call) {
  Result<void> result = success();
  dispatchDType(accumulationType(call.results[0].dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) result = plainSparseDense<T>(call);
  });
  return result;
}

Result<std::optional<StructureResult>> sparseRowsStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 1));
  BATON_TRY(context.requireRank(1, 0));
  return oneResult(DType::I64, 1);
}
Result<std::vector<TensorDims>> sparseRowsDims(const OpCall&, DimsContext& context) {
  BATON_TRY(context.require(DimExpr(context.dims(0)[0]), Relation::Ge, one(),
                            "sparse.rows: {0} row pointers are given; expected 1 or more"));
  const DimExpr count = (*context.valuesOrSymbols(1))[0];
  context.blame(1);
  BATON_TRY(context.require(count, Relation::Ge, DimExpr(), "sparse.rows: the count is negative ({0})"));
  return std::vector<TensorDims>{{{count}}};
}
Result<void> sparseRowsNest(NestContext& context) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  BATON_TRY_ASSIGN(const Value given, context.read(1, {}));
  const Value count = loop::cast(given, DType::I64);
  const Value rows = emitter.dim(DimExpr(context.inputDims(0)[0]) - one());
  const uint32_t none = b.message("a sparse matrix: no rows are given for {0} elements");
  b.ifThen(loop::equal(rows, emitter.number(0)) & (count > emitter.number(0)),
           [&] { b.fail(none, {count}); });
  const Value row = emitter.beginLoop(LoopKind::Serial, rows);
  BATON_TRY_ASSIGN(const RowRange range, rowRange(context, 0, row, rows, count));
  const Value step = emitter.beginLoop(LoopKind::Serial, emitter.sub(range.end, range.begin));
  const Value at[] = {emitter.add(range.begin, step)};
  BATON_TRY(context.sink(at, row));
  emitter.end();
  emitter.end();
  return success();
}
Result<void> sparseRowsReference(ReferenceCall& call) {
  const int64_t count = call.results[0].shape[0];
  const auto pointers = plainPointers(call, 0, count);
  if (!pointers || (pointers->size() == 1 && count > 0)) return wrongPointers(call);
  for (size_t row = 0; row + 1 < pointers->size(); ++row)
    for (int64_t at = (*pointers)[row]; at < (*pointers)[row + 1]; ++at)
      call.store(0, at, static_cast<uint64_t>(row));
  return success();
}

namespace {

/// What the operators on rows are written with.
class RowExpansion {
 public:
  explicit RowExpansion(ExpandContext& context) : context_(context) {}

  Result<TensorId> apply(std::string_view op, const std::vector<TensorId>& inputs) {
    return context_.make(op, {}, inputs);
  }
  TensorId number(int64_t value) { return context_.scalar(DType::I64, static_cast<double>(value)); }
  Result<TensorId> rows(TensorId pointers, TensorId indices) {
    BATON_TRY_ASSIGN(const TensorId count, context_.extentOf(indices, 0));
    return apply("sparse.rows", {pointers, count});
  }
  /// Indices that are below an int64 scalar.
  Result<TensorId> columns(TensorId indices, TensorId extent) {
    const DimExpr count = context_.dims(indices)[0];
    BATON_TRY_ASSIGN(const TensorId column, context_.reshape(indices, {count, one()}));
    BATON_TRY_ASSIGN(const TensorId shape, context_.reshape(extent, {one()}));
    BATON_TRY_ASSIGN(const TensorId checked, apply("sparse.positions", {column, shape}));
    return context_.reshape(checked, {count});
  }

 private:
  ExpandContext& context_;
};

}  // namespace

Result<std::optional<StructureResult>> sparseTransposeStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireSameDType(1, 2));
  BATON_TRY(requireVectors(context, 0, 2));
  const std::optional<DType> dtype = context.dtype(0);
  const std::optional<DType> index = context.dtype(1);
  if (!dtype || !index) return std::nullopt;
  return StructureResult{{{*dtype, 1}, {*index, 1}, {*index, 1}}, true};
}
Result<std::vector<TensorDims>> sparseTransposeDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireElements(call, context, 0));
  const std::vector<DimExpr> elements = copyDims(context, 0);
  return std::vector<TensorDims>{{elements}, {elements}, {copyDims(context, 2)}};
}
Result<void> sparseTransposeLegal(ExpandContext& context) {
  RowExpansion e(context);
  const TensorId data = context.input(0);
  const TensorId pointers = context.input(2);
  const DType index = context.dtype(pointers);
  BATON_TRY_ASSIGN(const TensorId rows, e.rows(pointers, context.input(1)));
  BATON_TRY_ASSIGN(const TensorId pointerCount, context.extentOf(pointers, 0));
  BATON_TRY_ASSIGN(const TensorId count, e.apply("subtract", {pointerCount, e.number(1)}));
  BATON_TRY_ASSIGN(const TensorId columns, e.columns(context.input(1), count));
  ir::Attrs typed;
  typed.set("dtype", DType::I64);
  BATON_TRY_ASSIGN(const TensorId order, context.make("argsort", typed, {columns}));
  BATON_TRY_ASSIGN(const TensorId moved, context.takeRows(data, order));
  BATON_TRY_ASSIGN(const TensorId movedRows, context.takeRows(rows, order));
  BATON_TRY_ASSIGN(const TensorId movedColumns, context.takeRows(columns, order));
  BATON_TRY_ASSIGN(const TensorId all, e.apply("arange", {e.number(0), pointerCount, e.number(1)}));
  ir::Attrs placed;
  placed.set("dtype", index);
  BATON_TRY_ASSIGN(const TensorId starts, context.make("searchsorted", placed, {movedColumns, all}));
  BATON_TRY_ASSIGN(const TensorId indices, context.cast(movedRows, index));
  context.become({moved, indices, starts});
  return success();
}
Result<void> sparseTransposeReference(ReferenceCall& call) {
  const int64_t count = call.extent(0, 0);
  const auto pointers = plainPointers(call, 2, count);
  if (!pointers || (pointers->size() == 1 && count > 0)) return wrongPointers(call);
  const auto rows = static_cast<int64_t>(pointers->size()) - 1;
  int64_t next = 0;
  for (int64_t column = 0; column < rows; ++column) {
    call.store(2, column, static_cast<uint64_t>(next));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t at = (*pointers)[static_cast<size_t>(row)]; at < (*pointers)[static_cast<size_t>(row) + 1];
           ++at) {
        const auto index = static_cast<int64_t>(call.load(1, at));
        if (index < 0 || index >= rows) return wrongIndex(call);
        if (index != column) continue;
        call.store(0, next, call.load(0, at));
        call.store(1, next++, static_cast<uint64_t>(row));
      }
  }
  call.store(2, rows, static_cast<uint64_t>(next));
  return success();
}

Result<std::optional<StructureResult>> sparseAddStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireSameDType(2, 3));
  BATON_TRY(context.requireRank(0, 2));
  BATON_TRY(requireVectors(context, 1, 3));
  return unaryStructure(call, context);
}
Result<std::vector<TensorDims>> sparseAddDims(const OpCall& call, DimsContext& context) {
  BATON_TRY(requireElements(call, context, 1));
  const std::vector<DimExpr> data = copyDims(context, 0);
  context.blame(3);
  BATON_TRY(context.require(DimExpr(context.dims(3)[0]), Relation::Eq, data[0] + one(),
                            "nn.sparse_add: {0} row pointers are given; expected {1}"));
  return std::vector<TensorDims>{{data}};
}
Result<void> sparseAddLegal(ExpandContext& context) {
  RowExpansion e(context);
  const TensorId data = context.input(0);
  BATON_TRY_ASSIGN(const TensorId rows, e.rows(context.input(3), context.input(2)));
  BATON_TRY_ASSIGN(const TensorId extent, context.extentOf(data, 1));
  BATON_TRY_ASSIGN(const TensorId columns, e.columns(context.input(2), extent));
  BATON_TRY_ASSIGN(const TensorId places, e.apply("stack", {rows, columns}));
  ir::Attrs adding;
  adding.set("mode", std::string("add"));
  BATON_TRY_ASSIGN(const TensorId result,
                   context.make("scatter_nd", adding, {data, places, context.input(1)}));
  context.become({result});
  return success();
}
Result<void> sparseAddReference(ReferenceCall& call) {
  const DType type = call.results[0].dtype;
  const DType wide = accumulationType(type);
  const int64_t columns = call.extent(0, 1);
  const auto pointers = plainPointers(call, 3, call.extent(1, 0));
  if (!pointers || (pointers->size() == 1 && call.extent(1, 0) > 0)) return wrongPointers(call);
  for (int64_t row = 0; row < call.extent(0, 0); ++row) {
    std::vector<uint64_t> sums;
    for (int64_t c = 0; c < columns; ++c)
      sums.push_back(convertScalar(call.load(0, row * columns + c), type, wide));
    for (int64_t at = (*pointers)[static_cast<size_t>(row)]; at < (*pointers)[static_cast<size_t>(row) + 1];
         ++at) {
      const auto index = static_cast<int64_t>(call.load(2, at));
      if (index < 0 || index >= columns) return wrongIndex(call);
      uint64_t& sum = sums[static_cast<size_t>(index)];
      const DType types[] = {wide, wide};
      const uint64_t both[] = {sum, convertScalar(call.load(1, at), type, wide)};
      BATON_TRY_ASSIGN(sum, addReference({call.call, types, wide}, both));
    }
    for (int64_t c = 0; c < columns; ++c)
      call.store(0, row * columns + c, convertScalar(sums[static_cast<size_t>(c)], wide, type));
  }
  return success();
}

}  // namespace baton::ops

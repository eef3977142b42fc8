// searchsorted, invert_permutation and argwhere.
#include <array>
#include <bit>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/gather/sort_order.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> searchsortedStructure(const OpCall& call, StructureContext& context) {
  const DType dtype = SearchsortedAttrs{*call.attrs}.dtype();
  if (!isInClass(dtype, DTypeClass::Index))
    return opError(call, fmt::format("dtype is {}; expected int32 or int64", dtypeName(dtype)));
  BATON_TRY(context.provideResultDType(0, dtype));
  BATON_TRY(context.requireSameDType(0, 1));
  const std::optional<int> sequences = context.rank(0);
  const std::optional<int> values = context.rank(1);
  if (!sequences || !values) return std::nullopt;
  if (*sequences != 1 && (*sequences != *values || *values == 0))
    return opError(call, fmt::format("the sorted sequence has rank {}; expected 1{}", *sequences,
                                     *values > 1 ? fmt::format(" or that of the values, {}", *values) : ""));
  return oneResult(dtype, *values);
}
Result<std::vector<TensorDims>> searchsortedDims(const OpCall&, DimsContext& context) {
  const std::vector<DimExpr> sequences = copyDims(context, 0);
  TensorDims result{copyDims(context, 1)};
  context.blame(1);
  for (size_t d = 0; d + 1 < sequences.size(); ++d) {
    BATON_TRY_ASSIGN(
        result.extents[d],
        requireEqual(context, sequences[d], result.extents[d],
                     fmt::format("searchsorted: dimension {0} of the sorted sequence ({{0}}) does not "
                                 "match dimension {0} of the values ({{1}})",
                                 d)));
  }
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

using loop::LoopKind;
using loop::Value;

/// In loop IR.
Value sortsBefore(Value a, Value b) {
  if (a.type() == DType::Bool) return loop::cast(a, DType::I32) < loop::cast(b, DType::I32);
  const Value x = widen(a);
  const Value y = widen(b);
  if (!isFloat(x.type())) return x < y;
  return (x < y) | (loop::notEqual(y, y) & loop::equal(x, x));
}

/// How often an interval of so many elements can be halved until it is empty.
Value halvings(Emitter& emitter, const DimExpr& extent) {
  if (const std::optional<int64_t> constant = extent.asConstant())
    return emitter.number(std::bit_width(static_cast<uint64_t>(*constant)));
  const Value whole = emitter.dim(extent);
  return emitter.at(0, [&] {
    loop::Builder& b = emitter.builder();
    const loop::LocalIndex rest = b.local(DType::I64);
    const loop::LocalIndex count = b.local(DType::I64);
    b.set(rest, whole);
    static_cast<void>(emitter.beginLoop(LoopKind::Serial, emitter.number(63)));
    const Value left = b.get(rest);
    b.set(count, b.get(count) + loop::cast(left > emitter.number(0), DType::I64));
    b.set(rest, emitter.floorDiv(left, emitter.number(2)));
    emitter.end();
    return b.get(count);
  });
}

}  // namespace

Result<Value> searchsortedElement(ElementContext& context, std::span<const Value> index) {
  const bool isRight = SearchsortedAttrs{*context.call().attrs}.right();
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  const auto sequences = context.inputDims(0);
  BATON_TRY_ASSIGN(const Value wanted, context.read(1, index));
  const Value count = halvings(emitter, sequences.back());
  // The place is in [low, high].
  const loop::LocalIndex low = b.local(DType::I64);
  const loop::LocalIndex high = b.local(DType::I64);
  b.set(high, emitter.dim(sequences.back()));
  static_cast<void>(emitter.beginLoop(LoopKind::Serial, count));
  const Value from = b.get(low);
  const Value to = b.get(high);
  const Value middle = emitter.floorDiv(from + to, emitter.number(2));
  emitter.beginIf(from < to);
  std::vector<Value> at;
  if (sequences.size() > 1) at.assign(index.begin(), index.end() - 1);
  at.push_back(middle);
  BATON_TRY_ASSIGN(const Value element, context.read(0, at));
  const Value isBehind = isRight ? ~sortsBefore(wanted, element) : sortsBefore(element, wanted);
  b.set(low, loop::select(isBehind, middle + emitter.number(1), from));
  b.set(high, loop::select(isBehind, to, middle));
  emitter.end();
  emitter.end();
  return loop::cast(b.get(low), context.wantedType());
}
Result<void> searchsortedReference(ReferenceCall& call) {
  const bool isRight = SearchsortedAttrs{*call.call.attrs}.right();
  const DType type = call.inputs[0].dtype;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const uint64_t wanted = call.load(1, index);
    std::vector<int64_t> at;
    if (call.inputs[0].shape.size() > 1) at.assign(index.begin(), index.end() - 1);
    at.push_back(0);
    // Halved as the kernel does: the elements need not be in order.
    int64_t low = 0;
    int64_t high = call.inputs[0].shape.back();
    while (low < high) {
      at.back() = (low + high) / 2;
      const uint64_t element = call.load(0, at);
      if (isRight ? !isSortedBefore(type, wanted, element) : isSortedBefore(type, element, wanted))
        low = at.back() + 1;
      else
        high = at.back();
    }
    call.store(0, index, convertScalar(static_cast<uint64_t>(low), DType::I64, call.results[0].dtype));
  });
  return success();
}

Result<std::optional<StructureResult>> invertPermutationStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 1));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 1);
}
Result<void> invertPermutationLegal(ExpandContext& context) {
  const TensorId data = context.input(0);
  const DType dtype = context.dtype(data);
  ir::Attrs typed;
  typed.set("dtype", dtype);
  BATON_TRY_ASSIGN(const TensorId count, context.extentOf(data, 0, dtype));
  BATON_TRY_ASSIGN(
      const TensorId places,
      context.make("arange", typed, {context.scalar(dtype, 0), count, context.scalar(dtype, 1)}));
  BATON_TRY_ASSIGN(const TensorId nothing, context.make("zeros_like", {}, {data}));
  BATON_TRY_ASSIGN(const TensorId result, context.make("scatter_elements", {}, {nothing, data, places}));
  context.become({result});
  return success();
}
Result<void> invertPermutationReference(ReferenceCall& call) {
  const int64_t count = call.extent(0, 0);
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(call.load(0, i));
    if (at < -count || at >= count) return programError(call.call, "an index is out of range");
    call.store(0, at < 0 ? at + count : at, static_cast<uint64_t>(i));
  }
  return success();
}

Result<std::optional<StructureResult>> argwhereStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.provideResultDType(0, DType::I32));
  if (!context.rank(0)) return std::nullopt;
  return oneResult(DType::I32, 2);
}
Result<std::vector<TensorDims>> argwhereDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> condition = copyDims(context, 0);
  for (size_t d = 0; d < condition.size(); ++d)
    BATON_TRY(context.require(
        condition[d], Relation::Le, DimExpr::constant(INT32_MAX),
        fmt::format("{}: dimension {} ({{0}}) has more positions than int32", call.op->name, d)));
  const DimExpr rank = DimExpr::constant(static_cast<int64_t>(condition.size()));
  return std::vector<TensorDims>{{{context.fresh("found"), rank}}};
}
Result<void> argwhereLegal(ExpandContext& context) {
  TensorId condition = context.input(0);
  if (context.dtype(condition) != DType::Bool) {
    const TensorId zero = context.scalar(context.dtype(condition), 0);
    BATON_TRY_ASSIGN(condition, context.make("not_equal", {}, {condition, zero}));
  }
  BATON_TRY_ASSIGN(const TensorId ones, context.cast(condition, DType::I64));
  BATON_TRY_ASSIGN(const TensorId count, context.make("sum", {}, {ones}));
  BATON_TRY_ASSIGN(const TensorId rows, context.make("argwhere.rows", {}, {condition, count}));
  context.become({rows});
  return success();
}
Result<void> argwhereReference(ReferenceCall& call) {
  std::vector<int64_t> rows;
  int64_t count = 0;
  const DType type = call.inputs[0].dtype;
  forEachPosition(call.inputs[0].shape, [&](std::span<const int64_t> index) {
    if (convertScalar(call.load(0, index), type, DType::Bool) == 0) return;
    ++count;
    rows.insert(rows.end(), index.begin(), index.end());
  });
  BATON_TRY(call.allocate(0, {count, static_cast<int64_t>(call.inputs[0].shape.size())}));
  for (size_t i = 0; i < rows.size(); ++i)
    call.store(0, static_cast<int64_t>(i), static_cast<uint64_t>(rows[i]));
  return success();
}

Result<std::optional<StructureResult>> argwhereRowsStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(1, 0));
  return argwhereStructure(call, context);
}
Result<std::vector<TensorDims>> argwhereRowsDims(const OpCall&, DimsContext& context) {
  const DimExpr rank = DimExpr::constant(static_cast<int64_t>(context.dims(0).size()));
  const DimExpr count = (*context.valuesOrSymbols(1))[0];
  BATON_TRY(context.require(count, Relation::Ge, DimExpr(), "argwhere.rows: the count is negative ({0})"));
  return std::vector<TensorDims>{{{count, rank}}};
}
Result<void> argwhereRowsNest(NestContext& context) {
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  const auto condition = context.inputDims(0);
  BATON_TRY_ASSIGN(const Value given, context.read(1, {}));
  const Value count = loop::cast(given, DType::I64);
  const loop::LocalIndex found = b.local(DType::I64);
  std::vector<Value> counts;
  for (const DimExpr& extent : condition) counts.push_back(emitter.dim(extent));
  emitter.skipWhenEmpty(counts);
  std::vector<Value> index;
  for (const Value extent : counts) index.push_back(emitter.beginLoop(LoopKind::Serial, extent));
  BATON_TRY_ASSIGN(const Value isTrue, context.read(0, index));
  const uint32_t wrong = b.message("argwhere.rows: {0} elements are true; the count says {1}");
  emitter.beginIf(isTrue);
  const Value row = b.get(found);
  const Value next = row + emitter.number(1);
  b.ifThen(row >= count, [&] { b.fail(wrong, {next, count}); });
  for (size_t d = 0; d < index.size(); ++d) {
    const Value at[] = {row, emitter.number(static_cast<int64_t>(d))};
    BATON_TRY(context.sink(at, loop::cast(index[d], DType::I32)));
  }
  b.set(found, next);
  emitter.end();
  for (size_t d = 0; d < index.size(); ++d) emitter.end();
  const Value total = b.get(found);
  b.ifThen(loop::notEqual(total, count), [&] { b.fail(wrong, {total, count}); });
  return success();
}
Result<void> argwhereRowsReference(ReferenceCall& call) {
  int64_t row = 0;
  bool isWrong = false;
  forEachPosition(call.inputs[0].shape, [&](std::span<const int64_t> index) {
    if (call.load(0, index) == 0) return;
    isWrong |= row >= call.results[0].shape[0];
    for (size_t d = 0; d < index.size() && !isWrong; ++d)
      call.store(0, std::array{row, static_cast<int64_t>(d)}, static_cast<uint64_t>(index[d]));
    ++row;
  });
  if (isWrong || row != call.results[0].shape[0]) return programError(call.call, "the count is wrong");
  return success();
}

}  // namespace baton::ops

// nn.dilate, sliding_window, trilu and matrix_set_diag.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

Result<void> requireMatrices(const OpCall& call, const StructureContext& context) {
  const std::optional<int> rank = context.rank(0);
  if (!rank || *rank >= 2) return success();
  return opError(call, fmt::format("the data has rank {}; expected 2 or more", *rank));
}

}  // namespace

Result<std::optional<StructureResult>> dilateStructure(const OpCall& call, StructureContext& context) {
  const std::vector<int64_t>& strides = DilateAttrs{*call.attrs}.strides();
  const std::optional<int> rank = context.rank(0);
  if (rank && strides.size() != static_cast<size_t>(*rank))
    return opError(call, fmt::format("{} strides are given for {} axes", strides.size(), *rank));
  for (const int64_t stride : strides)
    if (stride < 1) return opError(call, fmt::format("a stride is {}; expected 1 or more", stride));
  return unaryStructure(call, context);
}
Result<std::vector<TensorDims>> dilateDims(const OpCall& call, DimsContext& context) {
  const std::vector<int64_t>& strides = DilateAttrs{*call.attrs}.strides();
  TensorDims result{copyDims(context, 0)};
  for (size_t d = 0; d < strides.size(); ++d) {
    DimExpr& extent = result.extents[d];
    if (strides[d] == 1) continue;
    const bool hasElements = context.decide(extent, Relation::Ge, one()) == Truth::True;
    extent = (extent - one()) * DimExpr::constant(strides[d]) + one();
    if (!hasElements) extent = max(extent, DimExpr());
  }
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

using loop::Value;

}  // namespace

Result<Value> dilateElement(ElementContext& context, std::span<const Value> index) {
  const DilateAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  std::vector<Value> at(index.begin(), index.end());
  std::optional<Value> isThere;
  for (size_t d = 0; d < at.size(); ++d) {
    if (attrs.strides()[d] == 1) continue;
    const Value stride = emitter.number(attrs.strides()[d]);
    at[d] = emitter.floorDiv(index[d], stride);
    const Value condition = loop::equal(emitter.floorMod(index[d], stride), emitter.number(0));
    isThere = isThere ? *isThere & condition : condition;
  }
  BATON_TRY_ASSIGN(const Value element, context.read(0, at));
  if (!isThere) return element;
  return loop::select(*isThere, element,
                      context.builder().constant(context.wantedType(), attrs.dilationValue()));
}
Result<void> dilateReference(ReferenceCall& call) {
  const DilateAttrs attrs{*call.call.attrs};
  const DType type = call.results[0].dtype;
  const uint64_t between = convertScalar(scalarBits(attrs.dilationValue()), DType::F64, type);
  const auto count = elementCount(call.results[0].shape);
  for (int64_t i = 0; i < count; ++i) call.store(0, i, between);
  forEachPosition(call.inputs[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    for (size_t d = 0; d < at.size(); ++d) at[d] *= attrs.strides()[d];
    call.store(0, at, call.load(0, index));
  });
  return success();
}

Result<std::optional<StructureResult>> slidingWindowStructure(const OpCall& call, StructureContext& context) {
  const SlidingWindowAttrs attrs{*call.attrs};
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  // An axis of r: there is no axis to slide along.
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", attrs.axis(), *rank));
  const auto count = static_cast<size_t>(*rank - axis);
  if (attrs.windowShape().size() != count || attrs.strides().size() != count)
    return opError(call, fmt::format("{} extents and {} strides are given for {} axes",
                                     attrs.windowShape().size(), attrs.strides().size(), count));
  for (size_t i = 0; i < count; ++i)
    if (attrs.windowShape()[i] < 1 || attrs.strides()[i] < 1)
      return opError(call, fmt::format("a window of {} moves by {}; expected 1 or more",
                                       attrs.windowShape()[i], attrs.strides()[i]));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank + static_cast<int>(count));
}
Result<std::vector<TensorDims>> slidingWindowDims(const OpCall& call, DimsContext& context) {
  const SlidingWindowAttrs attrs{*call.attrs};
  TensorDims result{copyDims(context, 0)};
  const size_t count = attrs.windowShape().size();
  const size_t first = result.extents.size() - count;
  for (size_t i = 0; i < count; ++i) {
    DimExpr& extent = result.extents[first + i];
    const DimExpr window = DimExpr::constant(attrs.windowShape()[i]);
    BATON_TRY(context.require(
        extent, Relation::Ge, window,
        fmt::format("sliding_window: a window of {{1}} does not fit into dimension {} ({{0}})", first + i)));
    extent = floorDiv(extent - window, DimExpr::constant(attrs.strides()[i])) + one();
  }
  for (const int64_t window : attrs.windowShape()) result.extents.push_back(DimExpr::constant(window));
  return std::vector<TensorDims>{std::move(result)};
}
Result<Value> slidingWindowElement(ElementContext& context, std::span<const Value> index) {
  const SlidingWindowAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  const size_t rank = context.inputDims(0).size();
  const size_t first = rank - attrs.strides().size();
  std::vector<Value> at(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank));
  for (size_t d = first; d < rank; ++d)
    at[d] = emitter.add(emitter.mul(index[d], emitter.number(attrs.strides()[d - first])),
                        index[d - first + rank]);
  return context.read(0, at);
}
Result<void> slidingWindowReference(ReferenceCall& call) {
  const SlidingWindowAttrs attrs{*call.call.attrs};
  const size_t rank = call.inputs[0].shape.size();
  const size_t first = rank - attrs.strides().size();
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(rank));
    for (size_t i = 0; first + i < rank; ++i)
      at[first + i] = at[first + i] * attrs.strides()[i] + index[rank + i];
    call.store(0, index, call.load(0, at));
  });
  return success();
}

Result<std::optional<StructureResult>> triluStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(requireMatrices(call, context));
  BATON_TRY(context.requireRank(1, 0));
  return unaryStructure(call, context);
}
Result<Value> triluElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const Value element, context.read(0, index));
  BATON_TRY_ASSIGN(const Value given, context.read(1, {}));
  const Value k = loop::cast(given, DType::I64);
  const Value diagonal = context.emitter().sub(index[index.size() - 1], index[index.size() - 2]);
  const Value isKept = TriluAttrs{*context.call().attrs}.upper() ? diagonal >= k : diagonal <= k;
  return loop::select(isKept, element, context.builder().constant(context.wantedType(), 0));
}
Result<void> triluReference(ReferenceCall& call) {
  const auto k = static_cast<int64_t>(call.load(1, 0));
  const bool isUpper = TriluAttrs{*call.call.attrs}.upper();
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t diagonal = index[index.size() - 1] - index[index.size() - 2];
    if (isUpper ? diagonal >= k : diagonal <= k) call.store(0, index, call.load(0, index));
  });
  return success();
}

Result<std::optional<StructureResult>> matrixSetDiagStructure(const OpCall& call, StructureContext& context) {
  const MatrixSetDiagAttrs attrs{*call.attrs};
  if (attrs.k1() > attrs.k2())
    return opError(call, fmt::format("k1 is {}, above k2, which is {}", attrs.k1(), attrs.k2()));
  if (attrs.k1() < -INT32_MAX || attrs.k2() > INT32_MAX)
    return opError(
        call, fmt::format("diagonals from {} to {} are too far from the main one", attrs.k1(), attrs.k2()));
  BATON_TRY(requireMatrices(call, context));
  BATON_TRY(context.requireSameDType(0, 1));
  if (const std::optional<int> rank = context.rank(0))
    BATON_TRY(context.requireRank(1, attrs.k1() == attrs.k2() ? *rank - 1 : *rank));
  return unaryStructure(call, context);
}
Result<std::vector<TensorDims>> matrixSetDiagDims(const OpCall& call, DimsContext& context) {
  const MatrixSetDiagAttrs attrs{*call.attrs};
  TensorDims result{copyDims(context, 0)};
  const std::vector<DimExpr> diagonal = copyDims(context, 1);
  const size_t batch = result.extents.size() - 2;
  context.blame(1);
  for (size_t d = 0; d < batch; ++d) {
    BATON_TRY_ASSIGN(
        result.extents[d],
        requireEqual(context, result.extents[d], diagonal[d],
                     fmt::format("matrix_set_diag: dimension {0} of the data ({{0}}) does not match "
                                 "dimension {0} of the diagonal ({{1}})",
                                 d)));
  }
  // All diagonals are as long as the longest of them.
  const auto shorter = [](const DimExpr& extent, int64_t by) { return extent - DimExpr::constant(by); };
  const DimExpr rows = shorter(result.extents[batch], std::max<int64_t>(-attrs.k2(), 0));
  const DimExpr columns = shorter(result.extents[batch + 1], std::max<int64_t>(attrs.k1(), 0));
  DimExpr longest = min(rows, columns);
  if (context.decide(rows, Relation::Le, columns) == Truth::True) longest = rows;
  if (context.decide(columns, Relation::Le, rows) == Truth::True) longest = columns;
  BATON_TRY(
      context.require(diagonal.back(), Relation::Eq, longest,
                      "matrix_set_diag: a diagonal has {0} elements; the longest one of the matrix has {1}"));
  if (attrs.k1() != attrs.k2())
    BATON_TRY(context.require(diagonal[batch], Relation::Eq, DimExpr::constant(attrs.k2() - attrs.k1() + 1),
                              "matrix_set_diag: {0} diagonals are given; expected {1}"));
  return std::vector<TensorDims>{std::move(result)};
}
Result<Value> matrixSetDiagElement(ElementContext& context, std::span<const Value> index) {
  const MatrixSetDiagAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  const size_t batch = index.size() - 2;
  const Value row = index[batch];
  const Value column = index[batch + 1];
  const Value k = emitter.sub(column, row);
  const Value zero = emitter.number(0);
  const Value below = emitter.min(k, zero);
  const Value above = emitter.max(k, zero);
  // Its length, and its place from the start of it.
  const Value length = emitter.min(emitter.add(emitter.dim(context.resultDims()[batch]), below),
                                   emitter.sub(emitter.dim(context.resultDims()[batch + 1]), above));
  Value place = emitter.min(row, column);
  const Value shift = emitter.sub(emitter.dim(context.inputDims(1).back()), length);
  const auto shiftWhere = [&](Value condition) {
    place = emitter.add(place, loop::select(condition, shift, zero));
  };
  if (attrs.superDiagRightAlign()) shiftWhere(k > zero);
  if (attrs.subDiagRightAlign()) shiftWhere(k < zero);
  BATON_TRY_ASSIGN(const Value old, context.read(0, index));
  const loop::LocalIndex element = b.local(context.wantedType());
  b.set(element, old);
  emitter.beginIf((k >= emitter.number(attrs.k1())) & (k <= emitter.number(attrs.k2())));
  std::vector<Value> at(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch));
  if (attrs.k1() != attrs.k2()) at.push_back(emitter.sub(emitter.number(attrs.k2()), k));
  at.push_back(place);
  BATON_TRY_ASSIGN(const Value chosen, context.read(1, at));
  b.set(element, chosen);
  emitter.end();
  return b.get(element);
}
Result<void> matrixSetDiagReference(ReferenceCall& call) {
  const MatrixSetDiagAttrs attrs{*call.call.attrs};
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const size_t batch = index.size() - 2;
    const int64_t k = index[batch + 1] - index[batch];
    if (k < attrs.k1() || k > attrs.k2()) {
      call.store(0, index, call.load(0, index));
      return;
    }
    std::vector<int64_t> at(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch));
    if (attrs.k1() != attrs.k2()) at.push_back(attrs.k2() - k);
    const int64_t length = std::min(call.extent(0, batch) + std::min<int64_t>(k, 0),
                                    call.extent(0, batch + 1) - std::max<int64_t>(k, 0));
    const bool isRight = (k > 0 && attrs.superDiagRightAlign()) || (k < 0 && attrs.subDiagRightAlign());
    at.push_back(std::min(index[batch], index[batch + 1]) +
                 (isRight ? call.inputs[1].shape.back() - length : 0));
    call.store(0, index, call.load(1, at));
  });
  return success();
}

}  // namespace baton::ops

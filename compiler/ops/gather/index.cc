// take, gather and one_hot: elements at positions that a tensor holds.
#include <fmt/format.h>

#include "compiler/ops/arrange/layout.h"
#include "compiler/ops/arrange/position.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// An index needs something to point at, if there is an index.
Result<void> requireNotEmpty(const OpCall& call, DimsContext& context, const DimExpr& extent,
                             const std::vector<DimExpr>& indices) {
  context.blame(0);
  return context.require(extent, Relation::Ge, indices.empty() ? one() : min(product(indices), one()),
                         fmt::format("{}: the data has no elements along the axis ({{0}})", call.op->name));
}

}  // namespace

Result<std::optional<StructureResult>> takeStructure(const OpCall& call, StructureContext& context) {
  const TakeAttrs attrs{*call.attrs};
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  if (attrs.mode() != "clip" && attrs.mode() != "wrap" && attrs.mode() != "fast")
    return opError(call,
                   fmt::format("mode is \"{}\"; expected \"clip\", \"wrap\" or \"fast\"", attrs.mode()));
  const std::optional<int> rank = context.rank(0);
  const std::optional<int> indexRank = context.rank(1);
  const std::optional<DType> dtype = context.dtype(0);
  if (attrs.batchDims() != 0 && !attrs.axis()) return opError(call, "batch_dims without an axis");
  if (!attrs.axis()) {
    if (!indexRank || !dtype) return std::nullopt;
    return oneResult(*dtype, *indexRank);
  }
  if (!rank || !indexRank) return std::nullopt;
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", *attrs.axis(), *rank));
  if (attrs.batchDims() < 0 || attrs.batchDims() > std::min(axis, *indexRank))
    return opError(call, fmt::format("batch_dims is {}; expected 0 to {}", attrs.batchDims(),
                                     std::min(axis, *indexRank)));
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank - 1 + *indexRank - static_cast<int>(attrs.batchDims()));
}

Result<std::vector<TensorDims>> takeDims(const OpCall& call, DimsContext& context) {
  const TakeAttrs attrs{*call.attrs};
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> indices = copyDims(context, 1);
  if (!attrs.axis()) {
    BATON_TRY(requireNotEmpty(call, context, product(data), indices));
    return std::vector<TensorDims>{{indices}};
  }
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", *attrs.axis(), static_cast<int>(data.size())));
  const auto at = static_cast<size_t>(axis);
  const auto batch = static_cast<size_t>(attrs.batchDims());
  BATON_TRY(requireNotEmpty(call, context, data[at], indices));
  TensorDims result;
  for (size_t d = 0; d < at; ++d) {
    result.extents.push_back(data[d]);
    if (d >= batch) continue;
    context.blame(1);
    BATON_TRY_ASSIGN(
        result.extents[d],
        requireEqual(context, data[d], indices[d],
                     fmt::format("take: dimension {0} of the data ({{0}}) does not match dimension {0} of "
                                 "the indices ({{1}})",
                                 d)));
  }
  for (size_t d = batch; d < indices.size(); ++d) result.extents.push_back(indices[d]);
  for (size_t d = at + 1; d < data.size(); ++d) result.extents.push_back(data[d]);
  return std::vector<TensorDims>{std::move(result)};
}

std::optional<std::vector<DimExpr>> takeValues(const OpCall& call, DimsContext& context,
                                               const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  const std::vector<DimExpr>* indices = context.values(1);
  if (values == nullptr || indices == nullptr || values->empty() || !valueCount(result)) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = asConstants(*indices);
  if (!numbers) return std::nullopt;
  const auto count = static_cast<int64_t>(values->size());
  const std::string& mode = TakeAttrs{*call.attrs}.mode();
  std::vector<DimExpr> out;
  for (int64_t index : *numbers) {
    if (mode == "clip") index = std::clamp<int64_t>(index, 0, count - 1);
    if (mode == "wrap") index = ((index % count) + count) % count;
    if (mode == "fast" && index < 0) index += count;
    if (index < 0 || index >= count) return std::nullopt;
    out.push_back((*values)[static_cast<size_t>(index)]);
  }
  return out;
}

Result<std::optional<StructureResult>> gatherStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY(context.requireSameRank(0, 1));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(normaliseAxis(call, "axis", GatherAttrs{*call.attrs}.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> gatherDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  TensorDims result{copyDims(context, 1)};
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", GatherAttrs{*call.attrs}.axis(),
                                                 static_cast<int>(data.size())));
  for (size_t d = 0; d < data.size(); ++d) {
    if (d == static_cast<size_t>(axis)) continue;
    context.blame(1);
    BATON_TRY_ASSIGN(
        result.extents[d],
        requireEqual(context, data[d], result.extents[d],
                     fmt::format("gather: dimension {0} of the data ({{0}}) does not match dimension {0} of "
                                 "the indices ({{1}})",
                                 d)));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> oneHotStructure(const OpCall& call, StructureContext& context) {
  const OneHotAttrs attrs{*call.attrs};
  BATON_TRY(context.requireRank(1, 0));
  BATON_TRY(context.requireRank(2, 0));
  BATON_TRY(context.requireSameDType(1, 2));
  if (!attrs.depth() && call.inputCount < 4)
    return opError(call, "no depth is given: neither an attribute nor an input");
  if (call.inputCount == 4) BATON_TRY(context.requireRank(3, 0));
  if (attrs.depth() && *attrs.depth() < 0)
    return opError(call, fmt::format("depth is {}; expected 0 or more", *attrs.depth()));
  BATON_TRY_ASSIGN(const std::optional<DType> dtype, givenOrInputDType(context, attrs.dtype(), 1));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(newAxis(call, attrs.axis(), *rank));
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank + 1);
}

Result<std::vector<TensorDims>> oneHotDims(const OpCall& call, DimsContext& context) {
  const OneHotAttrs attrs{*call.attrs};
  TensorDims result{copyDims(context, 0)};
  BATON_TRY_ASSIGN(const int axis, newAxis(call, attrs.axis(), static_cast<int>(result.extents.size())));
  DimExpr depth = DimExpr::constant(attrs.depth().value_or(0));
  if (!attrs.depth()) {
    const std::vector<DimExpr>* given = context.valuesOrSymbols(3);
    if (given == nullptr) return opError(call, "the depth is not known");
    depth = given->at(0);
    BATON_TRY(context.require(depth, Relation::Ge, DimExpr(), "one_hot: the depth is negative ({0})"));
  }
  result.extents.insert(result.extents.begin() + axis, depth);
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

using loop::Op;
using loop::Value;

}  // namespace

Value position(CallContext& context, Value index, Value extent, std::string_view mode) {
  loop::Builder& b = context.builder();
  // uint64 beyond int64 are beyond every extent, too.
  const bool isWide = index.type() == DType::U64;
  if (mode == "wrap" && isWide) {
    const Value remainder =
        b.divide(Op::FloorMod, index, loop::cast(extent, DType::U64),
                 b.message(fmt::format("{}: nothing to take from", context.call().op->name)));
    return loop::cast(remainder, DType::I64);
  }
  const Value number = isWide
                           ? loop::cast(loop::min(index, b.constantBits(DType::U64, INT64_MAX)), DType::I64)
                           : loop::cast(index, DType::I64);
  if (mode == "clip") return b.clampIndex(number, extent);
  if (mode == "wrap") {
    // An extent of zero has been excluded by the relation, where there are indices at all.
    return b.divide(Op::FloorMod, number, extent,
                    b.message(fmt::format("{}: nothing to take from", context.call().op->name)));
  }
  const Value counted = loop::select(number < b.i64(0), number + extent, number);
  const uint32_t message = b.message(
      fmt::format("{}: an index is out of range: {{0}} for an extent of {{1}}", context.call().op->name));
  b.ifThen((counted < b.i64(0)) | (counted >= extent), [&] { b.fail(message, {number, extent}); });
  return counted;
}

std::optional<int64_t> plainPosition(uint64_t bits, DType type, int64_t extent, std::string_view mode) {
  const bool isHuge = type == DType::U64 && bits > INT64_MAX;
  const auto index = static_cast<int64_t>(bits);
  if (mode == "clip") return isHuge ? extent - 1 : std::clamp<int64_t>(index, 0, extent - 1);
  if (mode == "wrap") {
    if (type == DType::U64) return static_cast<int64_t>(bits % static_cast<uint64_t>(extent));
    return (index % extent + extent) % extent;
  }
  if (isHuge || index < -extent || index >= extent) return std::nullopt;
  return index < 0 ? index + extent : index;
}

Result<Value> takeElement(ElementContext& context, std::span<const Value> index) {
  const TakeAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  const auto data = context.inputDims(0);
  const size_t indexRank = context.inputDims(1).size();
  if (!attrs.axis()) {
    BATON_TRY_ASSIGN(const Value chosen, context.read(1, index));
    Value linear = position(context, chosen, emitter.dim(product(data)), attrs.mode());
    std::vector<Value> at(data.size(), emitter.number(0));
    for (size_t axis = data.size(); axis-- > 0;) {
      at[axis] = axis == 0 ? linear : emitter.floorMod(linear, emitter.dim(data[axis]));
      if (axis > 0) linear = emitter.floorDiv(linear, emitter.dim(data[axis]));
    }
    return context.read(0, at);
  }
  BATON_TRY_ASSIGN(const int normal,
                   normaliseAxis(context.call(), "axis", *attrs.axis(), static_cast<int>(data.size())));
  const auto axis = static_cast<size_t>(normal);
  const auto batch = static_cast<size_t>(attrs.batchDims());
  std::vector<Value> which(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch));
  for (size_t d = batch; d < indexRank; ++d) which.push_back(index[axis + d - batch]);
  BATON_TRY_ASSIGN(const Value chosen, context.read(1, which));
  std::vector<Value> at(index.begin(), index.begin() + normal);
  at.push_back(position(context, chosen, emitter.dim(data[axis]), attrs.mode()));
  for (size_t d = axis + 1; d < data.size(); ++d) at.push_back(index[d - 1 + indexRank - batch]);
  return context.read(0, at);
}

Result<void> takeReference(ReferenceCall& call) {
  const TakeAttrs attrs{*call.call.attrs};
  const auto data = call.inputs[0].shape;
  const auto indices = call.inputs[1].shape;
  const DType indexType = call.inputs[1].dtype;
  bool isOutside = false;
  if (!attrs.axis()) {
    const int64_t extent = elementCount(data);
    for (int64_t i = 0; i < elementCount(indices); ++i) {
      const auto at = plainPosition(call.load(1, i), indexType, extent, attrs.mode());
      if (!at) return programError(call.call, "an index is out of range");
      call.store(0, i, call.load(0, *at));
    }
    return success();
  }
  BATON_TRY_ASSIGN(const int normal,
                   normaliseAxis(call.call, "axis", *attrs.axis(), static_cast<int>(data.size())));
  const auto axis = static_cast<std::ptrdiff_t>(normal);
  const auto batch = static_cast<std::ptrdiff_t>(attrs.batchDims());
  const auto indexRank = static_cast<std::ptrdiff_t>(indices.size());
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    // Result: [data before the axis] [indices after the batch] [data after the axis].
    std::vector<int64_t> which(index.begin(), index.begin() + batch);
    which.insert(which.end(), index.begin() + axis, index.begin() + axis + indexRank - batch);
    const auto chosen =
        plainPosition(call.load(1, which), indexType, data[static_cast<size_t>(axis)], attrs.mode());
    if (!chosen) {
      isOutside = true;
      return;
    }
    std::vector<int64_t> at(index.begin(), index.begin() + axis);
    at.push_back(*chosen);
    at.insert(at.end(), index.begin() + axis + indexRank - batch, index.end());
    call.store(0, index, call.load(0, at));
  });
  if (isOutside) return programError(call.call, "an index is out of range");
  return success();
}

Result<Value> gatherElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", GatherAttrs{*context.call().attrs}.axis(),
                                 static_cast<int>(index.size())));
  BATON_TRY_ASSIGN(const Value chosen, context.read(1, index));
  std::vector<Value> at(index.begin(), index.end());
  const auto along = static_cast<size_t>(axis);
  at[along] = position(context, chosen, context.emitter().dim(context.inputDims(0)[along]), "fast");
  return context.read(0, at);
}
Result<void> gatherReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", GatherAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.inputs[0].shape.size())));
  const auto along = static_cast<size_t>(axis);
  bool isOutside = false;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const auto chosen =
        plainPosition(call.load(1, index), call.inputs[1].dtype, call.extent(0, along), "fast");
    if (!chosen) {
      isOutside = true;
      return;
    }
    std::vector<int64_t> at(index.begin(), index.end());
    at[along] = *chosen;
    call.store(0, index, call.load(0, at));
  });
  if (isOutside) return programError(call.call, "an index is out of range");
  return success();
}

Result<Value> oneHotElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const int axis, newAxis(context.call(), OneHotAttrs{*context.call().attrs}.axis(),
                                           static_cast<int>(index.size()) - 1));
  std::vector<Value> at(index.begin(), index.end());
  at.erase(at.begin() + axis);
  BATON_TRY_ASSIGN(const Value chosen, context.read(0, at));
  BATON_TRY_ASSIGN(const Value on, context.read(1, {}));
  BATON_TRY_ASSIGN(const Value off, context.read(2, {}));
  const Value here = index[static_cast<size_t>(axis)];
  const DType wide = chosen.type() == DType::U64 ? DType::U64 : DType::I64;
  const Value isHere = loop::equal(loop::cast(chosen, wide), loop::cast(here, wide));
  return loop::cast(loop::select(isHere, on, off), context.wantedType());
}
Result<void> oneHotReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis, newAxis(call.call, OneHotAttrs{*call.call.attrs}.axis(),
                                           static_cast<int>(call.inputs[0].shape.size())));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    at.erase(at.begin() + axis);
    const bool isHere = call.load(0, at) == static_cast<uint64_t>(index[static_cast<size_t>(axis)]);
    call.store(0, index,
               convertScalar(call.load(isHere ? 1 : 2, 0), call.inputs[1].dtype, call.results[0].dtype));
  });
  return success();
}

}  // namespace baton::ops

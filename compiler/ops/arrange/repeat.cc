// broadcast_to, repeat and tile: elements that stand in several places.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

ShapeSource targetShape(const OpCall& call) { return {BroadcastToAttrs{*call.attrs}.shape(), 1, "shape"}; }
ShapeSource repetitions(const OpCall& call) { return {TileAttrs{*call.attrs}.reps(), 1, "repetitions"}; }

/// Of data that is broadcast to a shape of that rank.
Result<std::optional<StructureResult>> broadcastStructure(const OpCall& call, StructureContext& context,
                                                          std::optional<int> rank) {
  const std::optional<int> dataRank = context.rank(0);
  if (rank && dataRank && *dataRank > *rank)
    return opError(call, fmt::format("data of rank {} cannot be broadcast to rank {}", *dataRank, *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype || !dataRank) return std::nullopt;
  return oneResult(*dtype, *rank);
}

}  // namespace

Result<std::optional<StructureResult>> broadcastToStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY_ASSIGN(const std::optional<int> rank, shapeRank(call, context, targetShape(call)));
  return broadcastStructure(call, context, rank);
}

namespace {

Result<std::vector<TensorDims>> broadcastDataTo(const OpCall& call, DimsContext& context,
                                                std::vector<DimExpr> target) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const size_t offset = target.size() - data.size();
  const DimExpr one = DimExpr::constant(1);
  std::vector<DimExpr> shown = data;
  shown.insert(shown.end(), target.begin(), target.end());
  const std::string message =
      fmt::format("{}: the shape {} cannot be broadcast to {}", call.op->name,
                  shapePlaceholders(0, data.size()), shapePlaceholders(data.size(), target.size()));
  for (size_t axis = 0; axis < data.size(); ++axis) {
    const DimExpr& wanted = target[offset + axis];
    const bool isOne = context.decide(data[axis], Relation::Eq, one) == Truth::True;
    const bool isWide = context.decide(data[axis], Relation::Ne, one) == Truth::True;
    if (isOne || context.decide(data[axis], Relation::Eq, wanted) == Truth::True) continue;
    const DimExpr conflict = distance(data[axis], wanted);
    BATON_TRY(isWide ? context.require(data[axis], Relation::Eq, wanted, message, shown)
                     : context.require(min(conflict, distance(data[axis], one)), Relation::Eq, DimExpr(),
                                       message, shown));
  }
  return std::vector<TensorDims>{{std::move(target)}};
}

}  // namespace

Result<std::vector<TensorDims>> broadcastToDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> target, shapeExtents(call, context, targetShape(call)));
  return broadcastDataTo(call, context, std::move(target));
}

Result<std::optional<StructureResult>> broadcastToLikeStructure(const OpCall& call,
                                                                StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(1);
  return broadcastStructure(call, context, rank);
}

Result<std::vector<TensorDims>> broadcastToLikeDims(const OpCall& call, DimsContext& context) {
  return broadcastDataTo(call, context, copyDims(context, 1));
}

std::optional<std::vector<DimExpr>> broadcastToValues(const OpCall&, DimsContext& context,
                                                      const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  const std::optional<size_t> count = valueCount(result);
  if (values == nullptr || !count) return std::nullopt;
  std::vector<DimExpr> out;
  for (size_t i = 0; i < *count; ++i) out.push_back((*values)[values->size() == 1 ? 0 : i]);
  return out;
}

Result<std::optional<StructureResult>> repeatStructure(const OpCall& call, StructureContext& context) {
  const RepeatAttrs attrs{*call.attrs};
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  if (attrs.repeats() < 0)
    return opError(call, fmt::format("repeats is {}; expected 0 or more", attrs.repeats()));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  if (attrs.axis()) BATON_TRY(normaliseAxis(call, "axis", *attrs.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, attrs.axis() ? *rank : 1);
}

Result<std::vector<TensorDims>> repeatDims(const OpCall& call, DimsContext& context) {
  const RepeatAttrs attrs{*call.attrs};
  TensorDims result{copyDims(context, 0)};
  const DimExpr repeats = DimExpr::constant(attrs.repeats());
  if (!attrs.axis()) return std::vector<TensorDims>{{{product(result.extents) * repeats}}};
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(call, "axis", *attrs.axis(), static_cast<int>(result.extents.size())));
  DimExpr& extent = result.extents[static_cast<size_t>(axis)];
  extent = extent * repeats;
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> tileStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY_ASSIGN(const std::optional<int> count, shapeRank(call, context, repetitions(call)));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!count || !rank || !dtype) return std::nullopt;
  return oneResult(*dtype, std::max(*count, *rank));
}

Result<std::vector<TensorDims>> tileDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> repeats, shapeExtents(call, context, repetitions(call)));
  TensorDims result{copyDims(context, 0)};
  const DimExpr one = DimExpr::constant(1);
  if (result.extents.size() < repeats.size())
    result.extents.insert(result.extents.begin(), repeats.size() - result.extents.size(), one);
  repeats.insert(repeats.begin(), result.extents.size() - repeats.size(), one);
  for (size_t axis = 0; axis < repeats.size(); ++axis)
    result.extents[axis] = result.extents[axis] * repeats[axis];
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

using loop::Value;

}  // namespace

Result<Value> broadcastToElement(ElementContext& context, std::span<const Value> index) {
  return context.readBroadcast(0, index);
}
Result<void> broadcastToLikeLegal(ExpandContext& context) {
  ir::Attrs attrs;
  attrs.set("shape", context.resultDims());
  BATON_TRY_ASSIGN(const TensorId result, context.make("broadcast_to", attrs, {context.input(0)}));
  context.become({result});
  return success();
}
Result<void> broadcastToReference(ReferenceCall& call) {
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    call.store(0, index, call.load(0, broadcastIndex(call.inputs[0].shape, index)));
  });
  return success();
}

Result<Value> repeatElement(ElementContext& context, std::span<const Value> index) {
  const RepeatAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  const auto dims = context.inputDims(0);
  const Value repeats = emitter.number(std::max<int64_t>(attrs.repeats(), 1));
  if (attrs.axis()) {
    BATON_TRY_ASSIGN(const int axis,
                     normaliseAxis(context.call(), "axis", *attrs.axis(), static_cast<int>(dims.size())));
    std::vector<Value> at(index.begin(), index.end());
    at[static_cast<size_t>(axis)] = emitter.floorDiv(at[static_cast<size_t>(axis)], repeats);
    return context.read(0, at);
  }
  Value linear = emitter.floorDiv(index[0], repeats);
  std::vector<Value> at(dims.size());
  for (size_t axis = dims.size(); axis-- > 0;) {
    at[axis] = axis == 0 ? linear : emitter.floorMod(linear, emitter.dim(dims[axis]));
    if (axis > 0) linear = emitter.floorDiv(linear, emitter.dim(dims[axis]));
  }
  return context.read(0, at);
}
Result<void> repeatReference(ReferenceCall& call) {
  const RepeatAttrs attrs{*call.call.attrs};
  if (!attrs.axis()) {
    const int64_t count = elementCount(call.results[0].shape);
    for (int64_t i = 0; i < count; ++i) call.store(0, i, call.load(0, i / attrs.repeats()));
    return success();
  }
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", *attrs.axis(),
                                                 static_cast<int>(call.inputs[0].shape.size())));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    at[static_cast<size_t>(axis)] /= attrs.repeats();
    call.store(0, index, call.load(0, at));
  });
  return success();
}

Result<Value> tileElement(ElementContext& context, std::span<const Value> index) {
  Emitter& emitter = context.emitter();
  const auto dims = context.inputDims(0);
  const size_t offset = index.size() - dims.size();
  std::vector<Value> at;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const bool isWhole = context.relations().decide(dims[axis], Relation::Eq,
                                                    context.wantedDims()[offset + axis]) == Truth::True;
    at.push_back(isWhole ? index[offset + axis]
                         : emitter.floorMod(index[offset + axis], emitter.dim(dims[axis])));
  }
  return context.read(0, at);
}
Result<void> tileReference(ReferenceCall& call) {
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const auto shape = call.inputs[0].shape;
    std::vector<int64_t> at(index.end() - static_cast<std::ptrdiff_t>(shape.size()), index.end());
    for (size_t axis = 0; axis < at.size(); ++axis) at[axis] %= shape[axis];
    call.store(0, index, call.load(0, at));
  });
  return success();
}

}  // namespace baton::ops

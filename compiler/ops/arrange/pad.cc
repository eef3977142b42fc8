// nn.pad and nn.mirror_pad: elements around a tensor.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

enum class PadMode { Constant, Edge, Reflect, Symmetric };

Result<PadMode> padMode(const OpCall& call) {
  const bool isMirror = call.op->name == "nn.mirror_pad";
  const std::string& mode = call.attrs->stringOf(isMirror ? "mode" : "pad_mode");
  if (isMirror) {
    if (mode == "SYMMETRIC") return PadMode::Symmetric;
    if (mode == "REFLECT") return PadMode::Reflect;
    return opError(call, fmt::format("mode is \"{}\"; expected \"SYMMETRIC\" or \"REFLECT\"", mode));
  }
  if (mode == "constant") return PadMode::Constant;
  if (mode == "edge") return PadMode::Edge;
  if (mode == "reflect") return PadMode::Reflect;
  return opError(call,
                 fmt::format("pad_mode is \"{}\"; expected \"constant\", \"edge\" or \"reflect\"", mode));
}

struct PadAxis {
  DimExpr before;
  DimExpr after;
  bool isUntouched() const { return before.isZero() && after.isZero(); }
};

Result<void> checkWidthCount(const OpCall& call, size_t count, size_t rank) {
  if (count == 2 * rank) return success();
  return opError(call, fmt::format("{} pad widths are given; expected 2 for each of {} axes", count, rank));
}

/// Of every axis, from the attribute or from an input of rank 1.
Result<std::vector<PadAxis>> padAxes(const OpCall& call, DimsContext& context, size_t widthsInput) {
  std::vector<DimExpr> widths;
  const std::vector<int64_t>* listed = nullptr;
  if (const ir::AttrValue* attr = call.attrs->find("pad_width"))
    listed = std::get_if<std::vector<int64_t>>(attr);
  if (listed != nullptr) {
    for (const int64_t width : *listed) widths.push_back(DimExpr::constant(width));
  } else {
    BATON_TRY_ASSIGN(widths, shapeElements(call, context, {nullptr, widthsInput, "pad widths"}));
  }
  const size_t rank = context.dims(0).size();
  BATON_TRY(checkWidthCount(call, widths.size(), rank));
  std::vector<PadAxis> axes;
  for (size_t axis = 0; axis < rank; ++axis) axes.push_back({widths[2 * axis], widths[2 * axis + 1]});
  return axes;
}

Result<std::vector<TensorDims>> paddedDims(const OpCall& call, DimsContext& context, size_t widthsInput) {
  BATON_TRY_ASSIGN(const std::vector<PadAxis> axes, padAxes(call, context, widthsInput));
  BATON_TRY_ASSIGN(const PadMode mode, padMode(call));
  TensorDims result{copyDims(context, 0)};
  for (size_t d = 0; d < axes.size(); ++d) {
    const DimExpr data = result.extents[d];
    DimExpr& extent = result.extents[d];
    extent = data + axes[d].before + axes[d].after;
    BATON_TRY(context.require(
        extent, Relation::Ge, DimExpr(),
        fmt::format("{}: dimension {} of the result is negative ({{0}})", call.op->name, d), {extent}));
    const auto onlyRemoves = [&](const DimExpr& width) {
      return context.decide(width, Relation::Le, DimExpr()) == Truth::True;
    };
    if (mode == PadMode::Constant || (onlyRemoves(axes[d].before) && onlyRemoves(axes[d].after))) continue;
    BATON_TRY(context.require(
        data, Relation::Ge,
        context.decide(extent, Relation::Ge, one()) == Truth::True ? one() : min(extent, one()),
        fmt::format("{}: dimension {} of the data has no elements to continue", call.op->name, d)));
  }
  return std::vector<TensorDims>{std::move(result)};
}

}  // namespace

Result<std::optional<StructureResult>> padStructure(const OpCall& call, StructureContext& context) {
  const PadAttrs attrs{*call.attrs};
  BATON_TRY(padMode(call));
  if (call.inputCount > 1) BATON_TRY(context.requireRank(1, 0));
  if (attrs.padWidth() == nullptr || call.inputCount > 2) {
    if (attrs.padWidth() != nullptr)
      return opError(call, "the pad widths are given twice, as attribute and as input");
    if (call.inputCount < 3)
      return opError(call, "no pad widths are given: neither an attribute nor an input");
    BATON_TRY(context.requireRank(2, 1));
  } else if (const std::optional<int> rank = context.rank(0)) {
    BATON_TRY(checkWidthCount(call, attrs.padWidth()->size(), static_cast<size_t>(*rank)));
  }
  return unaryStructure(call, context);
}
Result<std::vector<TensorDims>> padDims(const OpCall& call, DimsContext& context) {
  return paddedDims(call, context, 2);
}

Result<std::optional<StructureResult>> mirrorPadStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(padMode(call));
  if (const std::optional<int> rank = context.rank(0))
    BATON_TRY(
        checkWidthCount(call, MirrorPadAttrs{*call.attrs}.padWidth().size(), static_cast<size_t>(*rank)));
  return unaryStructure(call, context);
}
Result<std::vector<TensorDims>> mirrorPadDims(const OpCall& call, DimsContext& context) {
  return paddedDims(call, context, 1);
}

Result<std::optional<StructureResult>> dynPadStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(padMode(call));
  BATON_TRY(context.requireRank(2, 0));
  const std::optional<int> widths = context.rank(1);
  if (!widths) return std::nullopt;
  if (*widths != 1 && *widths != 2)
    return opError(call, fmt::format("the pad widths have rank {}; expected 1 or 2", *widths));
  return unaryStructure(call, context);
}
Result<std::vector<TensorDims>> dynPadDims(const OpCall& call, DimsContext& context) {
  if (context.dims(1).size() == 1) return paddedDims(call, context, 1);
  // Elements of a matrix are not known here: nn.pad finds what the extents are.
  const std::vector<DimExpr> widths = copyDims(context, 1);
  TensorDims result{copyDims(context, 0)};
  context.blame(1);
  BATON_TRY(context.require(widths[0], Relation::Eq,
                            DimExpr::constant(static_cast<int64_t>(result.extents.size())),
                            "dyn.nn.pad: widths of {0} axes are given for {1}"));
  BATON_TRY(context.require(widths[1], Relation::Eq, DimExpr::constant(2),
                            "dyn.nn.pad: {0} widths are given for each axis; expected {1}"));
  for (DimExpr& extent : result.extents) extent = context.fresh("padded");
  return std::vector<TensorDims>{std::move(result)};
}

Result<void> dynPadLegal(ExpandContext& context) {
  ir::Attrs attrs;
  attrs.set("pad_mode", context.call().attrs->stringOf("pad_mode"));
  TensorId widths = context.input(1);
  if (context.rank(widths) == 2) {
    const auto rank = static_cast<int64_t>(context.rank(context.input(0)));
    BATON_TRY_ASSIGN(widths, context.reshape(widths, {DimExpr::constant(2 * rank)}));
  }
  BATON_TRY_ASSIGN(const TensorId result,
                   context.make("nn.pad", attrs, {context.input(0), context.input(2), widths}));
  context.become({result});
  return success();
}

namespace {

using loop::Value;

/// Where the element is, in an axis continued by its mirror image, which repeats after `period`
/// positions: element i is at i and at `sum` - i.
Value mirrored(Emitter& emitter, Value position, const DimExpr& period, const DimExpr& sum) {
  const Value at = emitter.floorMod(position, emitter.dim(max(period, one())));
  return emitter.min(at, emitter.sub(emitter.dim(sum), at));
}

}  // namespace

Result<Value> padElement(ElementContext& context, std::span<const Value> index) {
  const OpCall& call = context.call();
  DimsContext& relations = context.relations();
  BATON_TRY_ASSIGN(const std::vector<PadAxis> axes, padAxes(call, relations, 2));
  BATON_TRY_ASSIGN(const PadMode mode, padMode(call));
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  std::vector<Value> at(index.begin(), index.end());
  std::optional<Value> isInside;
  const auto alsoInside = [&](Value condition) { isInside = isInside ? *isInside & condition : condition; };
  for (size_t d = 0; d < axes.size(); ++d) {
    if (axes[d].isUntouched()) continue;
    const DimExpr extent = context.inputDims(0)[d];
    const DimExpr last = extent - one();
    at[d] = emitter.sub(index[d], emitter.dim(axes[d].before));
    switch (mode) {
      case PadMode::Constant:
        if (relations.decide(axes[d].before, Relation::Le, DimExpr()) != Truth::True)
          alsoInside(at[d] >= emitter.number(0));
        if (relations.decide(axes[d].after, Relation::Le, DimExpr()) != Truth::True)
          alsoInside(at[d] < emitter.dim(extent));
        break;
      case PadMode::Edge:
        at[d] = emitter.min(emitter.max(at[d], emitter.number(0)), emitter.dim(last));
        break;
      case PadMode::Reflect: at[d] = mirrored(emitter, at[d], last + last, last + last); break;
      case PadMode::Symmetric: at[d] = mirrored(emitter, at[d], extent + extent, extent + last); break;
    }
  }
  if (!isInside) return context.read(0, at);
  const DType type = context.wantedType();
  Value outside;
  if (context.inputCount() > 1) {
    BATON_TRY_ASSIGN(const Value value, context.read(1, {}));
    outside = loop::cast(value, type);
  } else {
    outside = b.constant(type, PadAttrs{*call.attrs}.padValue());
  }
  // Elements that are not there are not read.
  const loop::LocalIndex element = b.local(type);
  b.set(element, outside);
  emitter.beginIf(*isInside);
  BATON_TRY_ASSIGN(const Value value, context.read(0, at));
  b.set(element, value);
  emitter.end();
  return b.get(element);
}

namespace {

/// Position in the data; nothing where the constant is.
std::optional<int64_t> padSource(int64_t position, int64_t extent, PadMode mode) {
  if (position >= 0 && position < extent) return position;
  switch (mode) {
    case PadMode::Constant: return std::nullopt;
    case PadMode::Edge: return position < 0 ? 0 : extent - 1;
    case PadMode::Reflect:
      if (extent == 1) return 0;
      // One reflection after the other, at either end.
      while (position < 0 || position >= extent)
        position = position < 0 ? -position : 2 * (extent - 1) - position;
      return position;
    case PadMode::Symmetric:
      while (position < 0 || position >= extent)
        position = position < 0 ? -1 - position : 2 * extent - 1 - position;
      return position;
  }
  return std::nullopt;
}

Result<void> padReferenceOf(ReferenceCall& call, size_t widthsInput, std::optional<size_t> valueInput) {
  const size_t rank = call.inputs[0].shape.size();
  std::vector<int64_t> before;
  const auto* listed = call.call.attrs->find("pad_width");
  const auto* widths = listed != nullptr ? std::get_if<std::vector<int64_t>>(listed) : nullptr;
  for (size_t axis = 0; axis < rank; ++axis)
    before.push_back(widths != nullptr
                         ? (*widths)[2 * axis]
                         : static_cast<int64_t>(call.load(widthsInput, static_cast<int64_t>(2 * axis))));
  BATON_TRY_ASSIGN(const PadMode mode, padMode(call.call));
  const DType type = call.results[0].dtype;
  uint64_t outside = 0;
  if (valueInput)
    outside = convertScalar(call.load(*valueInput, 0), call.inputs[*valueInput].dtype, type);
  else if (mode == PadMode::Constant)
    outside = convertScalar(scalarBits(PadAttrs{*call.call.attrs}.padValue()), DType::F64, type);
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at;
    for (size_t axis = 0; axis < rank; ++axis) {
      const std::optional<int64_t> source = padSource(index[axis] - before[axis], call.extent(0, axis), mode);
      if (source) at.push_back(*source);
    }
    call.store(0, index, at.size() == rank ? call.load(0, at) : outside);
  });
  return success();
}

}  // namespace

Result<void> padReference(ReferenceCall& call) {
  return padReferenceOf(call, 2, call.inputs.size() > 1 ? std::optional<size_t>(1) : std::nullopt);
}
Result<void> dynPadReference(ReferenceCall& call) {
  if (call.inputs[1].shape.size() == 2) {
    std::vector<int64_t> shape;
    for (size_t axis = 0; axis < call.inputs[0].shape.size(); ++axis) {
      const auto width = [&](size_t side) {
        return static_cast<int64_t>(call.load(1, static_cast<int64_t>(2 * axis + side)));
      };
      int64_t extent = 0;
      if (__builtin_add_overflow(call.extent(0, axis), width(0), &extent) ||
          __builtin_add_overflow(extent, width(1), &extent) || extent < 0)
        return programError(call.call,
                            fmt::format("dimension {} of the result is negative or too large", axis));
      const bool continues = width(0) > 0 || width(1) > 0;
      BATON_TRY_ASSIGN(const PadMode mode, padMode(call.call));
      if (mode != PadMode::Constant && continues && extent > 0 && call.extent(0, axis) == 0)
        return programError(call.call,
                            fmt::format("dimension {} of the data has no elements to continue", axis));
      shape.push_back(extent);
    }
    BATON_TRY(call.allocate(0, std::move(shape)));
  }
  return padReferenceOf(call, 1, 2);
}

}  // namespace baton::ops

#include "compiler/ops/convolution/window.h"

#include <algorithm>

#include <fmt/format.h>

namespace baton::ops {

namespace {

/// More would only make numbers that do not fit into extents.
constexpr int64_t kLargest = INT32_MAX;

Result<void> checkEntry(const OpCall& call, std::string_view attr, int64_t value, int64_t least) {
  if (value >= least && value <= kLargest) return success();
  return opError(call, fmt::format("{} holds {}; expected {} to {}", attr, value, least, kLargest));
}

}  // namespace

std::string_view spatialAxes(const OpCall& call) {
  if (call.op->name.find("1d") != std::string_view::npos) return "W";
  return call.op->name.find("3d") != std::string_view::npos ? "DHW" : "HW";
}

Result<std::vector<int64_t>> perAxis(const OpCall& call, std::string_view attr, int64_t least) {
  const size_t count = spatialAxes(call).size();
  std::vector<int64_t> values = call.attrs->intsOf(attr);
  if (values.size() == 1) values.resize(count, values[0]);
  if (values.size() != count)
    return opError(call, fmt::format("{} has {} entries; expected 1 or {}", attr, values.size(), count));
  for (const int64_t value : values) BATON_TRY(checkEntry(call, attr, value, least));
  return values;
}

Result<std::vector<WindowAxis>> paddedAxes(const OpCall& call) {
  const std::string_view names = spatialAxes(call);
  const size_t count = names.size();
  // One for all, one for both sides of each axis, or first those before and then those after.
  const std::vector<int64_t>& padding = call.attrs->intsOf("padding");
  if (padding.size() != 1 && padding.size() != count && padding.size() != 2 * count)
    return opError(
        call, fmt::format("padding has {} entries; expected 1, {} or {}", padding.size(), count, 2 * count));
  std::vector<WindowAxis> axes;
  for (size_t i = 0; i < count; ++i) {
    const int64_t before = padding[i % padding.size()];
    const int64_t after = padding[(padding.size() == 2 * count ? count + i : i) % padding.size()];
    for (const int64_t width : {before, after}) BATON_TRY(checkEntry(call, "padding", width, 0));
    axes.push_back({.name = names[i], .before = before, .after = after});
  }
  return axes;
}

Result<std::vector<WindowAxis>> windowAxes(const OpCall& call) {
  BATON_TRY_ASSIGN(std::vector<WindowAxis> axes, paddedAxes(call));
  BATON_TRY_ASSIGN(const std::vector<int64_t> strides, perAxis(call, "strides", 1));
  BATON_TRY_ASSIGN(const std::vector<int64_t> dilation, perAxis(call, "dilation", 1));
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].stride = strides[i];
    axes[i].dilation = dilation[i];
  }
  return axes;
}

Result<Layout> windowLayout(const OpCall& call, std::string_view attr, std::string_view others) {
  BATON_TRY_ASSIGN(Layout layout, readLayout(call, attr));
  std::string wanted(others);
  wanted += spatialAxes(call);
  std::string sorted = wanted;
  std::ranges::sort(sorted);
  const bool hasOthers = std::ranges::any_of(layout, [&](const LayoutAxis& axis) {
    return axis.block != 0 && others.find(axis.name) == std::string_view::npos;
  });
  if (lettersOf(layout) != sorted || hasOthers)
    return opError(call, fmt::format("{} is \"{}\"; expected the axes of \"{}\", and blocks of {} or {} only",
                                     attr, call.attrs->stringOf(attr), wanted, others[0], others[1]));
  return layout;
}

Result<Layout> resultLayout(const OpCall& call, std::string_view dataAttr) {
  const std::optional<std::string> text = call.attrs->get<std::string>("out_layout");
  return windowLayout(call, text && !text->empty() ? "out_layout" : dataAttr, "NC");
}

Result<void> requireBlocks(const OpCall& call, DimsContext& context, size_t input, const Layout& layout) {
  const std::vector<DimExpr> dims = copyDims(context, input);
  context.blame(input);
  for (size_t axis = 0; axis < layout.size(); ++axis)
    if (layout[axis].block != 0)
      BATON_TRY(context.require(dims[axis], Relation::Eq, DimExpr::constant(layout[axis].block),
                                fmt::format("{}: dimension {} of the {} is {{0}}; the layout says {{1}}",
                                            call.op->name, axis, inputName(call, input))));
  return success();
}

Result<TensorDims> extentsIn(const OpCall& call, DimsContext& context, const Layout& layout,
                             const std::function<DimExpr(char)>& whole) {
  TensorDims result;
  for (const LayoutAxis& axis : layout) {
    const DimExpr block = DimExpr::constant(blockOf(layout, axis.name));
    if (axis.block != 0) {
      result.extents.push_back(block);
      continue;
    }
    const DimExpr extent = whole(axis.name);
    BATON_TRY(context.require(
        floorMod(extent, block), Relation::Eq, DimExpr(),
        fmt::format("{}: blocks of {{1}} do not divide the extent of {} ({{0}})", call.op->name, axis.name),
        {extent, block}));
    result.extents.push_back(floorDiv(extent, block));
  }
  return result;
}

Result<DimExpr> windowPlaces(const OpCall& call, DimsContext& context, const WindowAxis& axis,
                             const DimExpr& extent, const DimExpr& span, bool roundsUp) {
  const DimExpr padded = extent + DimExpr::constant(axis.before) + DimExpr::constant(axis.after);
  context.blame(0);
  BATON_TRY(context.require(
      padded, Relation::Ge, span,
      fmt::format("{}: a window that spans {{1}} does not fit into {}, which is {{0}} with its padding",
                  call.op->name, axis.name)));
  const DimExpr stride = DimExpr::constant(axis.stride);
  return (roundsUp ? ceilDiv(padded - span, stride) : floorDiv(padded - span, stride)) + one();
}

loop::Value positionAlong(Emitter& emitter, const Layout& layout, std::span<const loop::Value> index,
                          char name) {
  const loop::Value outer = index[placeIn(layout, {name, 0})];
  const size_t inner = placeIn(layout, {name, 1});
  if (inner == layout.size()) return outer;
  return emitter.add(emitter.mul(outer, emitter.number(layout[inner].block)), index[inner]);
}
int64_t positionAlong(const Layout& layout, std::span<const int64_t> index, char name) {
  const int64_t outer = index[placeIn(layout, {name, 0})];
  const size_t inner = placeIn(layout, {name, 1});
  return inner == layout.size() ? outer : outer * layout[inner].block + index[inner];
}

}  // namespace baton::ops

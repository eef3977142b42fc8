// Windows that move over the spatial axes of a tensor: the attributes that convolutions and pools have
// in common, and the extents that follow from them.
#pragma once

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ops/arrange/named_axes.h"
#include "compiler/ops/lowering/emitter.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

struct WindowAxis {
  char name = 'W';
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t before = 0;  ///< padding
  int64_t after = 0;
  bool isPadded() const { return before != 0 || after != 0; }
};

/// "W", "HW" or "DHW": by the "1d", "2d" or "3d" in the name of the operator.
std::string_view spatialAxes(const OpCall& call);
/// A list with an entry for each spatial axis, or one for all of them; each from `least` on.
Result<std::vector<int64_t>> perAxis(const OpCall& call, std::string_view attr, int64_t least);
/// What `padding` says.
Result<std::vector<WindowAxis>> paddedAxes(const OpCall& call);
/// What `strides`, `dilation` and `padding` say.
Result<std::vector<WindowAxis>> windowAxes(const OpCall& call);

/// A layout of the axes that two letters name and of the spatial ones, of which no other than the former
/// may be in blocks.
Result<Layout> windowLayout(const OpCall& call, std::string_view attr, std::string_view others);
/// The layout of a result: `out_layout`, or that of the data where it is empty.
Result<Layout> resultLayout(const OpCall& call, std::string_view dataAttr);
/// Extents of blocks are what the layout says.
Result<void> requireBlocks(const OpCall& call, DimsContext& context, size_t input, const Layout& layout);
/// The extents of a result from those of its whole axes, by letter.
Result<TensorDims> extentsIn(const OpCall& call, DimsContext& context, const Layout& layout,
                             const std::function<DimExpr(char)>& whole);

/// From the first to the last element of a window of so many.
inline DimExpr windowSpan(const DimExpr& count, const WindowAxis& axis) {
  return (count - one()) * DimExpr::constant(axis.dilation) + one();
}
/// How many places a window has, or with `roundsUp` the next one, which does not fit wholly, too.
Result<DimExpr> windowPlaces(const OpCall& call, DimsContext& context, const WindowAxis& axis,
                             const DimExpr& extent, const DimExpr& span, bool roundsUp);

/// The index of an element in a layout, of loop IR or of numbers, from the positions along the whole
/// axes that `whole` gives by letter; `split(position, block)` gives the block and the place in it.
template <class T, class Whole, class Split>
std::vector<T> indexIn(const Layout& layout, Whole&& whole, Split&& split) {
  std::vector<T> index;
  for (const LayoutAxis& axis : layout) {
    const int64_t block = blockOf(layout, axis.name);
    index.push_back(axis.block != 0 ? split(whole(axis.name), block).second
                    : block == 1    ? whole(axis.name)
                                    : split(whole(axis.name), block).first);
  }
  return index;
}
template <class Whole>
std::vector<loop::Value> indexIn(Emitter& emitter, const Layout& layout, Whole&& whole) {
  return indexIn<loop::Value>(layout, whole, [&](loop::Value position, int64_t block) {
    const loop::Value extent = emitter.number(block);
    return std::pair(emitter.floorDiv(position, extent), emitter.floorMod(position, extent));
  });
}
template <class Whole>
std::vector<int64_t> indexIn(const Layout& layout, Whole&& whole) {
  return indexIn<int64_t>(layout, whole, [](int64_t position, int64_t block) {
    return std::pair(position / block, position % block);
  });
}
/// The position along a whole axis.
loop::Value positionAlong(Emitter& emitter, const Layout& layout, std::span<const loop::Value> index,
                          char name);
int64_t positionAlong(const Layout& layout, std::span<const int64_t> index, char name);

}  // namespace baton::ops

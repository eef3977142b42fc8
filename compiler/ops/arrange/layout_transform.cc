// layout_transform: axes named by letters, in another order and other blocks.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/arrange/rearrange.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// An axis of a layout: a whole one, or the place in blocks of another.
struct LayoutAxis {
  char name = 'A';    ///< a capital letter
  int64_t block = 0;  ///< extent of the blocks that this is the place in; 0: the axis itself
};
using Layout = std::vector<LayoutAxis>;

bool isSame(const LayoutAxis& a, const LayoutAxis& b) {
  return a.name == b.name && (a.block == 0) == (b.block == 0);
}

Result<Layout> readLayout(const OpCall& call, std::string_view attr) {
  const std::string& text = call.attrs->stringOf(attr);
  const auto wrong = [&](std::string_view what) {
    return opError(call, fmt::format("{} is \"{}\": {}", attr, text, what));
  };
  Layout layout;
  int64_t number = 0;
  bool hasNumber = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
      hasNumber = true;
      if (number > INT32_MAX) return wrong(fmt::format("blocks have extent {} at most", INT32_MAX));
      continue;
    }
    const bool isPlace = c >= 'a' && c <= 'z';
    if (!isPlace && (c < 'A' || c > 'Z')) return wrong("expected letters, and numbers before small ones");
    if (hasNumber && number == 0) return wrong("blocks have extent 1 or more");
    if (isPlace != hasNumber) return wrong("a small letter, and no other, follows the extent of its blocks");
    const LayoutAxis axis{static_cast<char>(isPlace ? c - 'a' + 'A' : c), number};
    if (std::ranges::any_of(layout, [&](const LayoutAxis& other) { return isSame(axis, other); }))
      return wrong(fmt::format("{} stands there twice", c));
    layout.push_back(axis);
    number = 0;
    hasNumber = false;
  }
  if (hasNumber) return wrong("a number stands at the end");
  for (const LayoutAxis& axis : layout)
    if (std::ranges::none_of(
            layout, [&](const LayoutAxis& whole) { return whole.block == 0 && whole.name == axis.name; }))
      return wrong(fmt::format("there are places in blocks of {}, which is no axis", axis.name));
  return layout;
}

/// Extent of the blocks of an axis, 1 where it has none.
int64_t blockOf(const Layout& layout, char name) {
  for (const LayoutAxis& axis : layout)
    if (axis.name == name && axis.block != 0) return axis.block;
  return 1;
}

size_t placeIn(const Layout& layout, const LayoutAxis& wanted) {
  const auto at = std::ranges::find_if(layout, [&](const LayoutAxis& axis) { return isSame(axis, wanted); });
  return static_cast<size_t>(at - layout.begin());
}

struct LayoutPair {
  Layout source;
  Layout target;
};
Result<LayoutPair> layoutsOf(const OpCall& call) {
  LayoutPair pair;
  BATON_TRY_ASSIGN(pair.source, readLayout(call, "src_layout"));
  BATON_TRY_ASSIGN(pair.target, readLayout(call, "dst_layout"));
  const auto letters = [](const Layout& layout) {
    std::string out;
    for (const LayoutAxis& axis : layout)
      if (axis.block == 0) out += axis.name;
    std::ranges::sort(out);
    return out;
  };
  if (letters(pair.source) != letters(pair.target))
    return opError(call, fmt::format("\"{}\" and \"{}\" have different axes",
                                     call.attrs->stringOf("src_layout"), call.attrs->stringOf("dst_layout")));
  return pair;
}

/// The whole extent of an axis of the source.
DimExpr wholeExtent(const Layout& source, std::span<const DimExpr> data, char name) {
  return data[placeIn(source, {name, 0})] * DimExpr::constant(blockOf(source, name));
}

}  // namespace

Result<std::optional<StructureResult>> layoutTransformStructure(const OpCall& call,
                                                                StructureContext& context) {
  BATON_TRY_ASSIGN(const LayoutPair layouts, layoutsOf(call));
  BATON_TRY(context.requireRank(0, static_cast<int>(layouts.source.size())));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, static_cast<int>(layouts.target.size()));
}

Result<std::vector<TensorDims>> layoutTransformDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const LayoutPair layouts, layoutsOf(call));
  const std::vector<DimExpr> data = copyDims(context, 0);
  for (const LayoutAxis& axis : layouts.source)
    if (axis.block != 0) {
      const size_t at = placeIn(layouts.source, axis);
      BATON_TRY(context.require(data[at], Relation::Eq, DimExpr::constant(axis.block),
                                fmt::format("layout_transform: dimension {} of the data is {{0}}; the layout "
                                            "says {{1}}",
                                            at)));
    }
  TensorDims result;
  for (const LayoutAxis& axis : layouts.target) {
    if (axis.block != 0) {
      result.extents.push_back(DimExpr::constant(axis.block));
      continue;
    }
    const DimExpr whole = wholeExtent(layouts.source, data, axis.name);
    const DimExpr block = DimExpr::constant(blockOf(layouts.target, axis.name));
    BATON_TRY(context.require(
        floorMod(whole, block), Relation::Eq, DimExpr(),
        fmt::format("layout_transform: blocks of {{1}} do not divide the extent of {} ({{0}})", axis.name),
        {whole, block}));
    result.extents.push_back(floorDiv(whole, block));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<void> layoutTransformLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const LayoutPair layouts, layoutsOf(context.call()));
  const std::vector<DimExpr> data = context.dims(context.input(0));
  // Each axis with its places behind it, then whole, then split as the result wants it.
  std::vector<int64_t> together;
  std::vector<DimExpr> split;
  Layout order;
  for (const LayoutAxis& axis : layouts.source) {
    if (axis.block != 0) continue;
    const LayoutAxis place{axis.name, 1};
    together.push_back(static_cast<int64_t>(placeIn(layouts.source, axis)));
    if (placeIn(layouts.source, place) < layouts.source.size())
      together.push_back(static_cast<int64_t>(placeIn(layouts.source, place)));
    const DimExpr whole = wholeExtent(layouts.source, data, axis.name);
    const DimExpr block = DimExpr::constant(blockOf(layouts.target, axis.name));
    split.push_back(floorDiv(whole, block));
    order.push_back(axis);
    if (placeIn(layouts.target, place) == layouts.target.size()) continue;
    split.push_back(block);
    order.push_back(place);
  }
  std::vector<int64_t> wanted;
  for (const LayoutAxis& axis : layouts.target) wanted.push_back(static_cast<int64_t>(placeIn(order, axis)));
  BATON_TRY_ASSIGN(TensorId result, transposed(context, context.input(0), std::move(together)));
  BATON_TRY_ASSIGN(result, context.reshape(result, std::move(split)));
  BATON_TRY_ASSIGN(result, transposed(context, result, std::move(wanted)));
  context.become({result});
  return success();
}

Result<void> layoutTransformReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const LayoutPair layouts, layoutsOf(call.call));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(layouts.source.size());
    for (size_t d = 0; d < at.size(); ++d) {
      const LayoutAxis& axis = layouts.source[d];
      // The position along the whole axis, from its block and its place there.
      int64_t whole = 0;
      for (size_t i = 0; i < index.size(); ++i)
        if (layouts.target[i].name == axis.name)
          whole += layouts.target[i].block == 0 ? index[i] * blockOf(layouts.target, axis.name) : index[i];
      const int64_t block = blockOf(layouts.source, axis.name);
      at[d] = axis.block == 0 ? whole / block : whole % block;
    }
    call.store(0, index, call.load(0, at));
  });
  return success();
}

}  // namespace baton::ops

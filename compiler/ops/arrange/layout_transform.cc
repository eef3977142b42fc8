// layout_transform: axes named by letters, in another order and other blocks.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/arrange/named_axes.h"
#include "compiler/ops/arrange/rearrange.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

struct LayoutPair {
  Layout source;
  Layout target;
};
Result<LayoutPair> layoutsOf(const OpCall& call) {
  LayoutPair pair;
  BATON_TRY_ASSIGN(pair.source, readLayout(call, "src_layout"));
  BATON_TRY_ASSIGN(pair.target, readLayout(call, "dst_layout"));
  if (lettersOf(pair.source) != lettersOf(pair.target))
    return opError(call, fmt::format("\"{}\" and \"{}\" have different axes",
                                     call.attrs->stringOf("src_layout"), call.attrs->stringOf("dst_layout")));
  return pair;
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

// depth_to_space, space_to_depth, space_to_batch_nd and batch_to_space_nd.
#include <fmt/format.h>

#include "compiler/ops/arrange/rearrange.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

DimExpr number(int64_t value) { return DimExpr::constant(value); }

/// Which axes of the four are the channel, the height and the width.
struct PlaneAxes {
  size_t channel, height, width;
};
PlaneAxes planeAxes(const OpCall& call) {
  return call.attrs->stringOf("layout") == "NCHW" ? PlaneAxes{1, 2, 3} : PlaneAxes{3, 1, 2};
}

Result<std::optional<StructureResult>> planeStructure(const OpCall& call, StructureContext& context) {
  const int64_t block = call.attrs->intOf("block_size");
  const std::string& layout = call.attrs->stringOf("layout");
  const std::string& mode = call.attrs->stringOf("mode");
  const bool isToSpace = call.op->name == "nn.depth_to_space";
  if (block < 1 || block > INT32_MAX)
    return opError(call, fmt::format("block_size is {}; expected 1 to {}", block, INT32_MAX));
  if (layout != "NCHW" && layout != "NHWC")
    return opError(call, fmt::format("layout is \"{}\"; expected \"NCHW\" or \"NHWC\"", layout));
  if (mode != "DCR" && !(isToSpace && mode == "CRD"))
    return opError(call,
                   fmt::format("mode is \"{}\"; expected \"DCR\"{}", mode, isToSpace ? " or \"CRD\"" : ""));
  BATON_TRY(context.requireRank(0, 4));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 4);
}

Result<void> requireDivides(const OpCall& call, DimsContext& context, const DimExpr& extent, int64_t divisor,
                            std::string_view what) {
  return context.require(floorMod(extent, number(divisor)), Relation::Eq, DimExpr(),
                         fmt::format("{}: {} does not divide {} ({{0}})", call.op->name, divisor, what),
                         {extent});
}

/// Blocks along the axes after the first, and what is added or removed at their ends.
struct Blocks {
  std::vector<int64_t> shape;
  std::vector<int64_t> ends;
  int64_t count = 1;
};
Blocks blocksOf(const OpCall& call) {
  Blocks blocks{call.attrs->intsOf("block_shape"),
                call.attrs->intsOf(call.op->name == "nn.space_to_batch_nd" ? "paddings" : "crops")};
  for (const int64_t block : blocks.shape) blocks.count *= block;
  return blocks;
}

Result<std::optional<StructureResult>> batchStructure(const OpCall& call, StructureContext& context,
                                                      std::string_view ends) {
  int64_t count = 1;
  const std::vector<int64_t>& shape = call.attrs->intsOf("block_shape");
  for (const int64_t block : shape) {
    if (block < 1) return opError(call, fmt::format("a block has extent {}; expected 1 or more", block));
    if (__builtin_mul_overflow(count, block, &count))
      return opError(call, fmt::format("a block has more than {} elements", INT64_MAX));
  }
  const std::vector<int64_t>& widths = call.attrs->intsOf(ends);
  if (widths.size() != 2 * shape.size())
    return opError(call, fmt::format("{} {} are given; expected 2 for each of {} blocks", widths.size(), ends,
                                     shape.size()));
  for (const int64_t width : widths)
    if (width < 0) return opError(call, fmt::format("one of the {} is {}; expected 0 or more", ends, width));
  const std::optional<int> rank = context.rank(0);
  if (rank && static_cast<size_t>(*rank) < shape.size() + 1)
    return opError(call, fmt::format("the data has rank {}; expected {} or more", *rank, shape.size() + 1));
  return unaryStructure(call, context);
}

}  // namespace

Result<std::optional<StructureResult>> depthToSpaceStructure(const OpCall& call, StructureContext& context) {
  return planeStructure(call, context);
}
Result<std::vector<TensorDims>> depthToSpaceDims(const OpCall& call, DimsContext& context) {
  const int64_t block = call.attrs->intOf("block_size");
  const PlaneAxes axes = planeAxes(call);
  TensorDims result{copyDims(context, 0)};
  DimExpr& channels = result.extents[axes.channel];
  BATON_TRY(requireDivides(call, context, channels, block * block, "the number of channels"));
  channels = floorDiv(channels, number(block * block));
  for (const size_t axis : {axes.height, axes.width})
    result.extents[axis] = result.extents[axis] * number(block);
  return std::vector<TensorDims>{std::move(result)};
}
Result<void> depthToSpaceLegal(ExpandContext& context) {
  const OpCall& call = context.call();
  const DimExpr block = number(call.attrs->intOf("block_size"));
  const PlaneAxes axes = planeAxes(call);
  const std::vector<DimExpr> data = context.dims(context.input(0));
  const DimExpr channels = floorDiv(data[axes.channel], block * block);
  const bool isDepthFirst = call.attrs->stringOf("mode") == "DCR";
  const std::vector<DimExpr> depth =
      isDepthFirst ? std::vector{block, block, channels} : std::vector{channels, block, block};
  std::vector<DimExpr> split = {data[0]};
  std::vector<int64_t> order;
  std::vector<DimExpr> joined;
  const std::vector<DimExpr> plane = {data[axes.height], data[axes.width]};
  if (axes.channel == 1) {
    split.insert(split.end(), depth.begin(), depth.end());
    split.insert(split.end(), plane.begin(), plane.end());
    order = isDepthFirst ? std::vector<int64_t>{0, 3, 4, 1, 5, 2} : std::vector<int64_t>{0, 1, 4, 2, 5, 3};
    joined = {data[0], channels, plane[0] * block, plane[1] * block};
  } else {
    split.insert(split.end(), plane.begin(), plane.end());
    split.insert(split.end(), depth.begin(), depth.end());
    order = isDepthFirst ? std::vector<int64_t>{0, 1, 3, 2, 4, 5} : std::vector<int64_t>{0, 1, 4, 2, 5, 3};
    joined = {data[0], plane[0] * block, plane[1] * block, channels};
  }
  BATON_TRY_ASSIGN(const TensorId result, rearranged(context, context.input(0), std::move(split),
                                                     std::move(order), std::move(joined)));
  context.become({result});
  return success();
}
Result<void> depthToSpaceReference(ReferenceCall& call) {
  const int64_t block = call.call.attrs->intOf("block_size");
  const PlaneAxes axes = planeAxes(call.call);
  const bool isDepthFirst = call.call.attrs->stringOf("mode") == "DCR";
  const int64_t channels = call.results[0].shape[axes.channel];
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    const int64_t place = index[axes.height] % block * block + index[axes.width] % block;
    at[axes.height] /= block;
    at[axes.width] /= block;
    int64_t& channel = at[axes.channel];
    channel = isDepthFirst ? place * channels + channel : channel * block * block + place;
    call.store(0, index, call.load(0, at));
  });
  return success();
}

Result<std::optional<StructureResult>> spaceToDepthStructure(const OpCall& call, StructureContext& context) {
  return planeStructure(call, context);
}
Result<std::vector<TensorDims>> spaceToDepthDims(const OpCall& call, DimsContext& context) {
  const int64_t block = call.attrs->intOf("block_size");
  const PlaneAxes axes = planeAxes(call);
  TensorDims result{copyDims(context, 0)};
  for (const size_t axis : {axes.height, axes.width}) {
    BATON_TRY(requireDivides(call, context, result.extents[axis], block,
                             axis == axes.height ? "the height" : "the width"));
    result.extents[axis] = floorDiv(result.extents[axis], number(block));
  }
  result.extents[axes.channel] = result.extents[axes.channel] * number(block * block);
  return std::vector<TensorDims>{std::move(result)};
}
Result<void> spaceToDepthLegal(ExpandContext& context) {
  const DimExpr block = number(context.call().attrs->intOf("block_size"));
  const PlaneAxes axes = planeAxes(context.call());
  const std::vector<DimExpr> data = context.dims(context.input(0));
  const DimExpr height = floorDiv(data[axes.height], block);
  const DimExpr width = floorDiv(data[axes.width], block);
  const DimExpr channels = data[axes.channel] * block * block;
  const bool isChannelFirst = axes.channel == 1;
  const std::vector<DimExpr> split = isChannelFirst
                                         ? std::vector{data[0], data[1], height, block, width, block}
                                         : std::vector{data[0], height, block, width, block, data[3]};
  const std::vector<int64_t> order =
      isChannelFirst ? std::vector<int64_t>{0, 3, 5, 1, 2, 4} : std::vector<int64_t>{0, 1, 3, 2, 4, 5};
  const std::vector<DimExpr> joined = isChannelFirst ? std::vector{data[0], channels, height, width}
                                                     : std::vector{data[0], height, width, channels};
  BATON_TRY_ASSIGN(const TensorId result, rearranged(context, context.input(0), split, order, joined));
  context.become({result});
  return success();
}
Result<void> spaceToDepthReference(ReferenceCall& call) {
  const int64_t block = call.call.attrs->intOf("block_size");
  const PlaneAxes axes = planeAxes(call.call);
  const int64_t channels = call.extent(0, axes.channel);
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    const int64_t place = index[axes.channel] / channels;
    at[axes.channel] %= channels;
    at[axes.height] = at[axes.height] * block + place / block;
    at[axes.width] = at[axes.width] * block + place % block;
    call.store(0, index, call.load(0, at));
  });
  return success();
}

Result<std::optional<StructureResult>> spaceToBatchNdStructure(const OpCall& call,
                                                               StructureContext& context) {
  return batchStructure(call, context, "paddings");
}
Result<std::vector<TensorDims>> spaceToBatchNdDims(const OpCall& call, DimsContext& context) {
  const Blocks blocks = blocksOf(call);
  TensorDims result{copyDims(context, 0)};
  result.extents[0] = result.extents[0] * number(blocks.count);
  for (size_t i = 0; i < blocks.shape.size(); ++i) {
    DimExpr& extent = result.extents[i + 1];
    extent = extent + number(blocks.ends[2 * i]) + number(blocks.ends[2 * i + 1]);
    BATON_TRY(requireDivides(call, context, extent, blocks.shape[i],
                             fmt::format("dimension {} of the padded data", i + 1)));
    extent = floorDiv(extent, number(blocks.shape[i]));
  }
  return std::vector<TensorDims>{std::move(result)};
}
Result<void> spaceToBatchNdLegal(ExpandContext& context) {
  const Blocks blocks = blocksOf(context.call());
  const auto blocked = static_cast<int64_t>(blocks.shape.size());
  TensorId data = context.input(0);
  const auto rank = static_cast<int64_t>(context.rank(data));
  ir::Attrs pad;
  std::vector<int64_t> widths = {0, 0};
  widths.insert(widths.end(), blocks.ends.begin(), blocks.ends.end());
  widths.resize(2 * static_cast<size_t>(rank), 0);
  pad.set("pad_width", std::move(widths));
  pad.set("pad_value", SpaceToBatchNdAttrs{*context.call().attrs}.padValue());
  BATON_TRY_ASSIGN(data, context.make("nn.pad", pad, {data}));
  const std::vector<DimExpr> dims = context.dims(data);
  // Axes: batch, then each blocked one as (blocks, place), then the rest.
  std::vector<DimExpr> split = {dims[0]};
  std::vector<int64_t> order;
  for (int64_t i = 0; i < blocked; ++i) {
    const DimExpr block = number(blocks.shape[static_cast<size_t>(i)]);
    split.push_back(floorDiv(dims[static_cast<size_t>(i) + 1], block));
    split.push_back(block);
    order.push_back(2 * i + 2);
  }
  order.push_back(0);
  for (int64_t i = 0; i < blocked; ++i) order.push_back(2 * i + 1);
  for (int64_t axis = blocked + 1; axis < rank; ++axis) {
    split.push_back(dims[static_cast<size_t>(axis)]);
    order.push_back(axis + blocked);
  }
  std::vector<DimExpr> joined = {dims[0] * number(blocks.count)};
  for (int64_t i = 0; i < blocked; ++i) joined.push_back(split[static_cast<size_t>(2 * i + 1)]);
  joined.insert(joined.end(), dims.begin() + blocked + 1, dims.end());
  BATON_TRY_ASSIGN(const TensorId result,
                   rearranged(context, data, std::move(split), std::move(order), std::move(joined)));
  context.become({result});
  return success();
}
Result<void> spaceToBatchNdReference(ReferenceCall& call) {
  const Blocks blocks = blocksOf(call.call);
  const uint64_t outside = convertScalar(scalarBits(SpaceToBatchNdAttrs{*call.call.attrs}.padValue()),
                                         DType::F64, call.results[0].dtype);
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    int64_t place = index[0] / call.extent(0, 0);
    at[0] = index[0] % call.extent(0, 0);
    bool isInside = true;
    for (size_t i = blocks.shape.size(); i-- > 0;) {
      at[i + 1] = at[i + 1] * blocks.shape[i] + place % blocks.shape[i] - blocks.ends[2 * i];
      place /= blocks.shape[i];
      isInside &= at[i + 1] >= 0 && at[i + 1] < call.extent(0, i + 1);
    }
    call.store(0, index, isInside ? call.load(0, at) : outside);
  });
  return success();
}

Result<std::optional<StructureResult>> batchToSpaceNdStructure(const OpCall& call,
                                                               StructureContext& context) {
  return batchStructure(call, context, "crops");
}
Result<std::vector<TensorDims>> batchToSpaceNdDims(const OpCall& call, DimsContext& context) {
  const Blocks blocks = blocksOf(call);
  TensorDims result{copyDims(context, 0)};
  BATON_TRY(requireDivides(call, context, result.extents[0], blocks.count, "the number of batches"));
  result.extents[0] = floorDiv(result.extents[0], number(blocks.count));
  for (size_t i = 0; i < blocks.shape.size(); ++i) {
    DimExpr& extent = result.extents[i + 1];
    extent = extent * number(blocks.shape[i]) - number(blocks.ends[2 * i]) - number(blocks.ends[2 * i + 1]);
    BATON_TRY(context.require(
        extent, Relation::Ge, DimExpr(),
        fmt::format("{}: dimension {} of the result is negative ({{0}})", call.op->name, i + 1), {extent}));
  }
  return std::vector<TensorDims>{std::move(result)};
}
Result<void> batchToSpaceNdLegal(ExpandContext& context) {
  const Blocks blocks = blocksOf(context.call());
  const auto blocked = static_cast<int64_t>(blocks.shape.size());
  const std::vector<DimExpr> data = context.dims(context.input(0));
  const auto rank = static_cast<int64_t>(data.size());
  const DimExpr batches = floorDiv(data[0], number(blocks.count));
  std::vector<DimExpr> split;
  std::vector<int64_t> order = {blocked};
  for (const int64_t block : blocks.shape) split.push_back(number(block));
  split.push_back(batches);
  split.insert(split.end(), data.begin() + 1, data.end());
  for (int64_t i = 0; i < blocked; ++i) order.insert(order.end(), {blocked + 1 + i, i});
  for (int64_t axis = 2 * blocked + 1; axis < rank + blocked; ++axis) order.push_back(axis);
  std::vector<DimExpr> joined = {batches};
  std::vector<DimExpr> begin = {DimExpr()};
  std::vector<DimExpr> end = {batches};
  for (size_t i = 0; i < blocks.shape.size(); ++i) {
    joined.push_back(data[i + 1] * number(blocks.shape[i]));
    begin.push_back(number(blocks.ends[2 * i]));
    end.push_back(joined.back() - number(blocks.ends[2 * i + 1]));
  }
  joined.insert(joined.end(), data.begin() + blocked + 1, data.end());
  BATON_TRY_ASSIGN(TensorId result, rearranged(context, context.input(0), std::move(split), std::move(order),
                                               std::move(joined)));
  ir::Attrs slice;
  slice.set("begin", std::move(begin));
  slice.set("end", std::move(end));
  BATON_TRY_ASSIGN(result, context.make("strided_slice", slice, {result}));
  context.become({result});
  return success();
}
Result<void> batchToSpaceNdReference(ReferenceCall& call) {
  const Blocks blocks = blocksOf(call.call);
  const int64_t batches = call.results[0].shape[0];
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    int64_t place = 0;
    for (size_t i = 0; i < blocks.shape.size(); ++i) {
      const int64_t whole = index[i + 1] + blocks.ends[2 * i];
      place = place * blocks.shape[i] + whole % blocks.shape[i];
      at[i + 1] = whole / blocks.shape[i];
    }
    at[0] = place * batches + index[0];
    call.store(0, index, call.load(0, at));
  });
  return success();
}

}  // namespace baton::ops

// gather_nd: elements or slices at positions along several axes.
#include <fmt/format.h>

#include "compiler/ops/arrange/position.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

size_t gatherNdBatch(const OpCall& call) {
  return static_cast<size_t>(GatherNdAttrs{*call.attrs}.batchDims());
}

/// Positions of each place: what is left of the ranks.
size_t gatherNdPositions(size_t dataRank, size_t indicesRank, size_t resultRank, size_t batch) {
  // result = places (indicesRank - 1) and the axes of the data after batch and positions
  return dataRank + indicesRank - 1 - batch - resultRank;
}

}  // namespace

Result<std::optional<StructureResult>> gatherNdStructure(const OpCall& call, StructureContext& context) {
  const GatherNdAttrs attrs{*call.attrs};
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<int> indexRank = context.rank(1);
  if (!rank || !indexRank) return std::nullopt;
  if (*indexRank < 1) return opError(call, "the indices are a scalar; expected rank 1 or more");
  const int64_t most = std::min<int64_t>(*rank, *indexRank - 1);
  if (attrs.batchDims() < 0 || attrs.batchDims() > most)
    return opError(call, fmt::format("batch_dims is {}; expected 0 to {}", attrs.batchDims(), most));
  const std::optional<int64_t> count = attrs.indexRank() ? attrs.indexRank() : context.length(1);
  if (!count)
    return Error(ErrorCode::Unsupported,
                 "gather_nd: the rank of the result depends on the first extent of the indices, which is not "
                 "known; say it with `index_rank`");
  if (*count < 0 || *count > *rank - attrs.batchDims())
    return opError(call,
                   fmt::format("{} positions are given for {} axes", *count, *rank - attrs.batchDims()));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, static_cast<int>(*rank - attrs.batchDims() - *count + *indexRank - 1));
}

Result<std::vector<TensorDims>> gatherNdDims(const OpCall& call, DimsContext& context) {
  const GatherNdAttrs attrs{*call.attrs};
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> indices = copyDims(context, 1);
  const size_t batch = gatherNdBatch(call);
  int64_t count = attrs.indexRank().value_or(indices[0].asConstant().value_or(0));
  context.blame(1);
  BATON_TRY(context.require(indices[0], Relation::Eq, DimExpr::constant(count),
                            "gather_nd: the indices hold {0} positions of each place; expected {1}"));
  TensorDims result;
  for (size_t d = 1; d < indices.size(); ++d) {
    result.extents.push_back(indices[d]);
    if (d > batch) continue;
    BATON_TRY_ASSIGN(
        result.extents.back(),
        requireEqual(context, data[d - 1], indices[d],
                     fmt::format("gather_nd: dimension {} of the data ({{0}}) does not match dimension {} of "
                                 "the indices ({{1}})",
                                 d - 1, d)));
  }
  // Places need something to point at.
  const DimExpr places = result.extents.empty() ? one() : min(product(result.extents), one());
  const size_t sliced = batch + static_cast<size_t>(count);
  context.blame(0);
  for (size_t d = batch; d < sliced; ++d)
    BATON_TRY(context.require(data[d], Relation::Ge, places,
                              fmt::format("gather_nd: the data has no elements along axis {} ({{0}})", d)));
  result.extents.insert(result.extents.end(), data.begin() + static_cast<std::ptrdiff_t>(sliced), data.end());
  return std::vector<TensorDims>{std::move(result)};
}

Result<loop::Value> gatherNdElement(ElementContext& context, std::span<const loop::Value> index) {
  const auto data = context.inputDims(0);
  const size_t placeRank = context.inputDims(1).size() - 1;
  const size_t batch = gatherNdBatch(context.call());
  const size_t count = gatherNdPositions(data.size(), placeRank + 1, index.size(), batch);
  std::vector<loop::Value> at(index.begin(), index.begin() + static_cast<std::ptrdiff_t>(batch));
  for (size_t i = 0; i < count; ++i) {
    std::vector<loop::Value> which = {context.emitter().number(static_cast<int64_t>(i))};
    which.insert(which.end(), index.begin(), index.begin() + static_cast<std::ptrdiff_t>(placeRank));
    BATON_TRY_ASSIGN(const loop::Value chosen, context.read(1, which));
    at.push_back(position(context, chosen, context.emitter().dim(data[batch + i]), "fast"));
  }
  at.insert(at.end(), index.begin() + static_cast<std::ptrdiff_t>(placeRank), index.end());
  return context.read(0, at);
}

Result<void> gatherNdReference(ReferenceCall& call) {
  const auto data = call.inputs[0].shape;
  const auto placeRank = static_cast<std::ptrdiff_t>(call.inputs[1].shape.size()) - 1;
  const auto batch = static_cast<std::ptrdiff_t>(gatherNdBatch(call.call));
  bool isOutside = false;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.begin() + batch);
    for (int64_t i = 0; i < call.extent(1, 0); ++i) {
      std::vector<int64_t> which = {i};
      which.insert(which.end(), index.begin(), index.begin() + placeRank);
      const auto chosen = plainPosition(call.load(1, which), call.inputs[1].dtype, data[at.size()], "fast");
      isOutside |= !chosen.has_value();
      at.push_back(chosen.value_or(0));
    }
    at.insert(at.end(), index.begin() + placeRank, index.end());
    if (!isOutside) call.store(0, index, call.load(0, at));
  });
  if (isOutside) return programError(call.call, "an index is out of range");
  return success();
}

}  // namespace baton::ops

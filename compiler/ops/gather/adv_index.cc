// adv_index: elements or slices at positions that a tensor for each axis holds.
#include <fmt/format.h>

#include "compiler/ops/arrange/position.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> advIndexStructure(const OpCall& call, StructureContext& context) {
  if (call.inputCount < 2)
    return opError(call, fmt::format("the tuple has {} elements; expected the data and one tensor of indices "
                                     "for each of its first axes",
                                     call.inputCount));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  int places = 0;
  bool isKnown = true;
  for (size_t i = 1; i < call.inputCount; ++i) {
    context.blame(i);
    const std::optional<DType> dtype = context.dtype(i);
    if (dtype && !isInClass(*dtype, DTypeClass::Integer))
      return opError(call, fmt::format("element {} of the data has element type {}; expected {}", i,
                                       dtypeName(*dtype), dtypeClassName(DTypeClass::Integer)));
    isKnown = isKnown && context.rank(i) && dtype;
    places = std::max(places, context.rank(i).value_or(0));
  }
  context.blame(0);
  const auto count = static_cast<int>(call.inputCount - 1);
  const std::optional<int> rank = context.rank(0);
  if (rank && *rank < count)
    return opError(call, fmt::format("indices of {} axes are given for data of rank {}", count, *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!isKnown || !rank || !dtype) return std::nullopt;
  return oneResult(*dtype, places + *rank - count);
}

namespace {

std::vector<size_t> indexInputs(const OpCall& call) {
  std::vector<size_t> inputs;
  for (size_t i = 1; i < call.inputCount; ++i) inputs.push_back(i);
  return inputs;
}

}  // namespace

Result<std::vector<TensorDims>> advIndexDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY_ASSIGN(std::vector<DimExpr> places, broadcastShapes(call, context, indexInputs(call)));
  // A place needs something to point at.
  const DimExpr least = places.empty() ? one() : min(product(places), one());
  context.blame(0);
  for (size_t d = 0; d + 1 < call.inputCount; ++d)
    BATON_TRY(context.require(data[d], Relation::Ge, least,
                              fmt::format("adv_index: the data has no elements along axis {} ({{0}})", d)));
  TensorDims result{std::move(places)};
  result.extents.insert(result.extents.end(), data.begin() + static_cast<std::ptrdiff_t>(call.inputCount) - 1,
                        data.end());
  return std::vector<TensorDims>{std::move(result)};
}

Result<loop::Value> advIndexElement(ElementContext& context, std::span<const loop::Value> index) {
  const auto data = context.inputDims(0);
  const size_t count = context.inputCount() - 1;
  const size_t placeRank = index.size() - (data.size() - count);
  std::vector<loop::Value> at;
  for (size_t d = 0; d < count; ++d) {
    BATON_TRY_ASSIGN(
        const loop::Value chosen,
        context.readBroadcast(d + 1, context.resultDims().first(placeRank), index.first(placeRank)));
    at.push_back(position(context, chosen, context.emitter().dim(data[d]), "fast"));
  }
  at.insert(at.end(), index.begin() + static_cast<std::ptrdiff_t>(placeRank), index.end());
  return context.read(0, at);
}
Result<void> advIndexReference(ReferenceCall& call) {
  const size_t count = call.inputs.size() - 1;
  bool isOutside = false;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const size_t placeRank = index.size() - (call.inputs[0].shape.size() - count);
    std::vector<int64_t> at;
    for (size_t d = 0; d < count; ++d) {
      const std::vector<int64_t> place = broadcastIndex(call.inputs[d + 1].shape, index.first(placeRank));
      const auto chosen =
          plainPosition(call.load(d + 1, place), call.inputs[d + 1].dtype, call.extent(0, d), "fast");
      isOutside |= !chosen.has_value();
      at.push_back(chosen.value_or(0));
    }
    at.insert(at.end(), index.begin() + static_cast<std::ptrdiff_t>(placeRank), index.end());
    if (!isOutside) call.store(0, index, call.load(0, at));
  });
  if (isOutside) return programError(call.call, "an index is out of range");
  return success();
}

}  // namespace baton::ops

// meshgrid: vectors as coordinates of all points of a grid.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// Along which axis of the results a vector lies.
size_t gridAxis(const OpCall& call, size_t input) {
  const bool isExchanged = MeshgridAttrs{*call.attrs}.indexing() == "xy" && call.inputCount > 1;
  return isExchanged && input < 2 ? 1 - input : input;
}

}  // namespace

Result<std::optional<StructureResult>> meshgridStructure(const OpCall& call, StructureContext& context) {
  const std::string& indexing = MeshgridAttrs{*call.attrs}.indexing();
  if (indexing != "ij" && indexing != "xy")
    return opError(call, fmt::format("indexing is \"{}\"; expected \"ij\" or \"xy\"", indexing));
  if (call.inputCount == 0) return opError(call, "the tuple has no elements");
  bool isKnown = true;
  for (size_t i = 0; i < call.inputCount; ++i) {
    BATON_TRY(context.requireSameDType(0, i));
    const std::optional<int> rank = context.rank(i);
    isKnown = isKnown && rank.has_value();
    if (rank && *rank > 1)
      return opError(call, fmt::format("element {} of the data has rank {}; expected 0 or 1", i, *rank));
  }
  const std::optional<DType> dtype = context.dtype(0);
  if (!isKnown || !dtype) return std::nullopt;
  return StructureResult{
      std::vector<TensorStructure>(call.inputCount, {*dtype, static_cast<int>(call.inputCount)}), true};
}
Result<std::vector<TensorDims>> meshgridDims(const OpCall& call, DimsContext& context) {
  TensorDims grid{std::vector<DimExpr>(call.inputCount, one())};
  for (size_t i = 0; i < call.inputCount; ++i)
    if (!context.dims(i).empty()) grid.extents[gridAxis(call, i)] = context.dims(i)[0];
  return std::vector<TensorDims>(call.inputCount, grid);
}

Result<loop::Value> meshgridElement(ElementContext& context, std::span<const loop::Value> index) {
  const size_t input = context.result();
  if (context.inputDims(input).empty()) return context.read(input, {});
  return context.read(input, {index[gridAxis(context.call(), input)]});
}
Result<void> meshgridReference(ReferenceCall& call) {
  for (size_t i = 0; i < call.results.size(); ++i)
    forEachPosition(call.results[i].shape, [&](std::span<const int64_t> index) {
      call.store(i, index, call.load(i, call.inputs[i].shape.empty() ? 0 : index[gridAxis(call.call, i)]));
    });
  return success();
}

}  // namespace baton::ops

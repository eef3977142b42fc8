// take, gather and one_hot: elements at positions that a tensor holds.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/layout.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

DimExpr one() { return DimExpr::constant(1); }

/// An index needs something to point at, if there is an index.
Result<void> requireNotEmpty(const OpCall& call, DimsContext& context, const DimExpr& extent,
                             const std::vector<DimExpr>& indices) {
  context.blame(0);
  return context.require(extent, Relation::Ge, indices.empty() ? one() : min(product(indices), one()),
                         fmt::format("{}: the data has no elements along the axis ({{0}})", call.op->name));
}

}  // namespace

Result<std::optional<StructureResult>> takeStructure(const OpCall& call, StructureContext& context) {
  const TakeAttrs attrs{*call.attrs};
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  if (attrs.mode() != "clip" && attrs.mode() != "wrap" && attrs.mode() != "fast")
    return opError(call,
                   fmt::format("mode is \"{}\"; expected \"clip\", \"wrap\" or \"fast\"", attrs.mode()));
  const std::optional<int> rank = context.rank(0);
  const std::optional<int> indexRank = context.rank(1);
  const std::optional<DType> dtype = context.dtype(0);
  if (attrs.batchDims() != 0 && !attrs.axis()) return opError(call, "batch_dims without an axis");
  if (!attrs.axis()) {
    if (!indexRank || !dtype) return std::nullopt;
    return oneResult(*dtype, *indexRank, context.length(1));
  }
  if (!rank || !indexRank) return std::nullopt;
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", *attrs.axis(), *rank));
  if (attrs.batchDims() < 0 || attrs.batchDims() > std::min(axis, *indexRank))
    return opError(call, fmt::format("batch_dims is {}; expected 0 to {}", attrs.batchDims(),
                                     std::min(axis, *indexRank)));
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank - 1 + *indexRank - static_cast<int>(attrs.batchDims()),
                   *rank == 1 ? context.length(1) : std::nullopt);
}

Result<std::vector<TensorDims>> takeDims(const OpCall& call, DimsContext& context) {
  const TakeAttrs attrs{*call.attrs};
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> indices = copyDims(context, 1);
  if (!attrs.axis()) {
    BATON_TRY(requireNotEmpty(call, context, product(data), indices));
    return std::vector<TensorDims>{{indices}};
  }
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", *attrs.axis(), static_cast<int>(data.size())));
  const auto at = static_cast<size_t>(axis);
  const auto batch = static_cast<size_t>(attrs.batchDims());
  BATON_TRY(requireNotEmpty(call, context, data[at], indices));
  TensorDims result;
  for (size_t d = 0; d < at; ++d) {
    result.extents.push_back(data[d]);
    if (d >= batch) continue;
    context.blame(1);
    BATON_TRY_ASSIGN(
        result.extents[d],
        requireEqual(context, data[d], indices[d],
                     fmt::format("take: dimension {0} of the data ({{0}}) does not match dimension {0} of "
                                 "the indices ({{1}})",
                                 d)));
  }
  for (size_t d = batch; d < indices.size(); ++d) result.extents.push_back(indices[d]);
  for (size_t d = at + 1; d < data.size(); ++d) result.extents.push_back(data[d]);
  return std::vector<TensorDims>{std::move(result)};
}

std::optional<std::vector<DimExpr>> takeValues(const OpCall& call, DimsContext& context,
                                               const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  const std::vector<DimExpr>* indices = context.values(1);
  if (values == nullptr || indices == nullptr || values->empty() || !valueCount(result)) return std::nullopt;
  const std::optional<std::vector<int64_t>> numbers = asConstants(*indices);
  if (!numbers) return std::nullopt;
  const auto count = static_cast<int64_t>(values->size());
  const std::string& mode = TakeAttrs{*call.attrs}.mode();
  std::vector<DimExpr> out;
  for (int64_t index : *numbers) {
    if (mode == "clip") index = std::clamp<int64_t>(index, 0, count - 1);
    if (mode == "wrap") index = ((index % count) + count) % count;
    if (mode == "fast" && index < 0) index += count;
    if (index < 0 || index >= count) return std::nullopt;
    out.push_back((*values)[static_cast<size_t>(index)]);
  }
  return out;
}

Result<std::optional<StructureResult>> gatherStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY(context.requireSameRank(0, 1));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(normaliseAxis(call, "axis", GatherAttrs{*call.attrs}.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank, context.length(1));
}

Result<std::vector<TensorDims>> gatherDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  TensorDims result{copyDims(context, 1)};
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", GatherAttrs{*call.attrs}.axis(),
                                                 static_cast<int>(data.size())));
  for (size_t d = 0; d < data.size(); ++d) {
    if (d == static_cast<size_t>(axis)) continue;
    context.blame(1);
    BATON_TRY_ASSIGN(
        result.extents[d],
        requireEqual(context, data[d], result.extents[d],
                     fmt::format("gather: dimension {0} of the data ({{0}}) does not match dimension {0} of "
                                 "the indices ({{1}})",
                                 d)));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> oneHotStructure(const OpCall& call, StructureContext& context) {
  const OneHotAttrs attrs{*call.attrs};
  BATON_TRY(context.requireRank(1, 0));
  BATON_TRY(context.requireRank(2, 0));
  BATON_TRY(context.requireSameDType(1, 2));
  if (!attrs.depth() && call.inputCount < 4)
    return opError(call, "no depth is given: neither an attribute nor an input");
  if (call.inputCount == 4) BATON_TRY(context.requireRank(3, 0));
  if (attrs.depth() && *attrs.depth() < 0)
    return opError(call, fmt::format("depth is {}; expected 0 or more", *attrs.depth()));
  if (attrs.dtype())
    BATON_TRY(context.provideResultDType(0, *attrs.dtype()));
  else
    BATON_TRY(context.provideResultDTypeOf(0, 1));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(newAxis(call, attrs.axis(), *rank));
  const std::optional<DType> dtype = attrs.dtype() ? attrs.dtype() : context.dtype(1);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank + 1);
}

Result<std::vector<TensorDims>> oneHotDims(const OpCall& call, DimsContext& context) {
  const OneHotAttrs attrs{*call.attrs};
  TensorDims result{copyDims(context, 0)};
  BATON_TRY_ASSIGN(const int axis, newAxis(call, attrs.axis(), static_cast<int>(result.extents.size())));
  DimExpr depth = DimExpr::constant(attrs.depth().value_or(0));
  if (!attrs.depth()) {
    const std::vector<DimExpr>* given = context.valuesOrSymbols(3);
    if (given == nullptr) return opError(call, "the depth is not known");
    depth = given->at(0);
    BATON_TRY(context.require(depth, Relation::Ge, DimExpr(), "one_hot: the depth is negative ({0})"));
  }
  result.extents.insert(result.extents.begin() + axis, depth);
  return std::vector<TensorDims>{std::move(result)};
}

}  // namespace baton::ops

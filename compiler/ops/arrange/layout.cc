// transpose, expand_dims, squeeze and reverse: axes permuted, made, dropped, turned round.
#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"
#include "compiler/ops/arrange/layout.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::vector<int>> transposedAxes(const OpCall& call, int rank) {
  const std::vector<int64_t>* listed = TransposeAttrs{*call.attrs}.axes();
  std::vector<int> axes;
  if (listed == nullptr) {
    for (int axis = rank; axis-- > 0;) axes.push_back(axis);
    return axes;
  }
  if (static_cast<int>(listed->size()) != rank)
    return opError(call, fmt::format("{} axes are listed for data of rank {}", listed->size(), rank));
  for (const int64_t axis : *listed) {
    BATON_TRY_ASSIGN(const int normal, normaliseAxis(call, "axis", axis, rank));
    if (std::find(axes.begin(), axes.end(), normal) != axes.end())
      return opError(call, fmt::format("axis {} is listed twice", normal));
    axes.push_back(normal);
  }
  return axes;
}

Result<std::optional<StructureResult>> transposeStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::vector<int64_t>* listed = TransposeAttrs{*call.attrs}.axes();
  if (listed != nullptr && !context.rank(0))
    BATON_TRY(context.requireRank(0, static_cast<int>(listed->size())));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(transposedAxes(call, *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> transposeDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY_ASSIGN(const std::vector<int> axes, transposedAxes(call, static_cast<int>(data.size())));
  TensorDims result;
  for (const int axis : axes) result.extents.push_back(data[static_cast<size_t>(axis)]);
  return std::vector<TensorDims>{std::move(result)};
}

Result<int> newAxis(const OpCall& call, int64_t axis, int rank) {
  return normaliseAxis(call, "axis", axis, rank + 1);
}

Result<std::optional<StructureResult>> expandDimsStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const ExpandDimsAttrs attrs{*call.attrs};
  if (attrs.numNewaxis() < 0 || attrs.numNewaxis() > kMaxRank)
    return opError(call, fmt::format("num_newaxis is {}; expected 0 to {}", attrs.numNewaxis(), kMaxRank));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(newAxis(call, attrs.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank + static_cast<int>(attrs.numNewaxis()));
}

Result<std::vector<TensorDims>> expandDimsDims(const OpCall& call, DimsContext& context) {
  const ExpandDimsAttrs attrs{*call.attrs};
  TensorDims result{copyDims(context, 0)};
  BATON_TRY_ASSIGN(const int axis, newAxis(call, attrs.axis(), static_cast<int>(result.extents.size())));
  result.extents.insert(result.extents.begin() + axis, static_cast<size_t>(attrs.numNewaxis()),
                        DimExpr::constant(1));
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::vector<bool>> squeezedAxes(const OpCall& call, int rank) {
  std::vector<bool> isSqueezed(static_cast<size_t>(rank), false);
  const std::vector<int64_t>* listed = SqueezeAttrs{*call.attrs}.axis();
  if (listed == nullptr) {
    // Only where the type leaves no doubt: see squeezeStructure.
    isSqueezed.assign(isSqueezed.size(), rank == 1);
    return isSqueezed;
  }
  for (const int64_t axis : *listed) {
    BATON_TRY_ASSIGN(const int normal, normaliseAxis(call, "axis", axis, rank));
    if (isSqueezed[static_cast<size_t>(normal)])
      return opError(call, fmt::format("axis {} is listed twice", normal));
    isSqueezed[static_cast<size_t>(normal)] = true;
  }
  return isSqueezed;
}

Result<std::optional<StructureResult>> squeezeStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  if (SqueezeAttrs{*call.attrs}.axis() == nullptr && *rank != 0 && (*rank != 1 || context.length(0) != 1))
    return Error(ErrorCode::Unsupported,
                 "squeeze: without `axis` the rank of the result would depend on extents; list the axes");
  BATON_TRY_ASSIGN(const std::vector<bool> isSqueezed, squeezedAxes(call, *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, static_cast<int>(std::count(isSqueezed.begin(), isSqueezed.end(), false)));
}

Result<std::vector<TensorDims>> squeezeDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY_ASSIGN(const std::vector<bool> isSqueezed, squeezedAxes(call, static_cast<int>(data.size())));
  TensorDims result;
  for (size_t axis = 0; axis < data.size(); ++axis) {
    if (isSqueezed[axis])
      BATON_TRY(context.require(data[axis], Relation::Eq, DimExpr::constant(1),
                                fmt::format("squeeze: dimension {} of the data is {{0}}; expected 1", axis)));
    else
      result.extents.push_back(data[axis]);
  }
  return std::vector<TensorDims>{std::move(result)};
}

std::optional<std::vector<DimExpr>> reverseValues(const OpCall&, DimsContext& context,
                                                  const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  if (values == nullptr || !valueCount(result)) return std::nullopt;
  return std::vector<DimExpr>(values->rbegin(), values->rend());
}

namespace {

using loop::Value;

}  // namespace

Result<Value> transposeElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const std::vector<int> axes,
                   transposedAxes(context.call(), static_cast<int>(index.size())));
  std::vector<Value> at(index.begin(), index.end());
  for (size_t i = 0; i < axes.size(); ++i) at[static_cast<size_t>(axes[i])] = index[i];
  return context.read(0, at);
}
Result<void> transposeReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const std::vector<int> axes,
                   transposedAxes(call.call, static_cast<int>(call.inputs[0].shape.size())));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.size());
    for (size_t i = 0; i < axes.size(); ++i) at[static_cast<size_t>(axes[i])] = index[i];
    call.store(0, index, call.load(0, at));
  });
  return success();
}

Result<Value> expandDimsElement(ElementContext& context, std::span<const Value> index) {
  const ExpandDimsAttrs attrs{*context.call().attrs};
  BATON_TRY_ASSIGN(const int axis,
                   newAxis(context.call(), attrs.axis(), static_cast<int>(context.inputDims(0).size())));
  std::vector<Value> at(index.begin(), index.end());
  at.erase(at.begin() + axis, at.begin() + axis + attrs.numNewaxis());
  return context.read(0, at);
}

Result<Value> squeezeElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const std::vector<bool> isSqueezed,
                   squeezedAxes(context.call(), static_cast<int>(context.inputDims(0).size())));
  std::vector<Value> at;
  size_t next = 0;
  for (const bool squeezes : isSqueezed) at.push_back(squeezes ? context.emitter().number(0) : index[next++]);
  return context.read(0, at);
}

Result<Value> reverseElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", ReverseAttrs{*context.call().attrs}.axis(),
                                 static_cast<int>(index.size())));
  Emitter& emitter = context.emitter();
  std::vector<Value> at(index.begin(), index.end());
  const auto reversed = static_cast<size_t>(axis);
  const Value last = emitter.dim(context.inputDims(0)[reversed] - DimExpr::constant(1));
  at[reversed] = emitter.sub(last, index[reversed]);
  return context.read(0, at);
}
Result<void> reverseReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", ReverseAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.inputs[0].shape.size())));
  const auto reversed = static_cast<size_t>(axis);
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    at[reversed] = call.extent(0, reversed) - 1 - index[reversed];
    call.store(0, index, call.load(0, at));
  });
  return success();
}

}  // namespace baton::ops

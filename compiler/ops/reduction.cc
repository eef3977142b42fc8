// Operators that reduce some axes of a tensor.
#include "compiler/ops/reduction.h"

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::vector<bool>> reducedAxes(const OpCall& call, int rank) {
  const ReductionAttrs attrs{*call.attrs};
  const std::vector<int64_t>* listed = attrs.axis();
  std::vector<bool> isReduced(static_cast<size_t>(rank), listed == nullptr);
  if (listed == nullptr) return isReduced;
  for (const int64_t axis : *listed) {
    BATON_TRY_ASSIGN(const int normal, normaliseAxis(call, "axis", axis, rank));
    if (isReduced[static_cast<size_t>(normal)])
      return opError(call, fmt::format("axis {} is listed twice", normal));
    isReduced[static_cast<size_t>(normal)] = true;
  }
  if (attrs.exclude()) isReduced.flip();
  return isReduced;
}

namespace {

/// Rank of the result; checks the axes.
Result<int> reducedRank(const OpCall& call, int rank) {
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, rank));
  int result = 0;
  for (const bool reduced : isReduced) result += !reduced || ReductionAttrs{*call.attrs}.keepdims() ? 1 : 0;
  return result;
}

}  // namespace

Result<std::optional<StructureResult>> reductionStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY_ASSIGN(const int resultRank, reducedRank(call, *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, resultRank);
}

Result<std::vector<TensorDims>> reductionDims(const OpCall& call, DimsContext& context) {
  const auto dims = context.dims(0);
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(dims.size())));
  TensorDims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!isReduced[axis])
      result.extents.push_back(dims[axis]);
    else if (ReductionAttrs{*call.attrs}.keepdims())
      result.extents.push_back(DimExpr::constant(1));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> argReductionStructure(const OpCall& call, StructureContext& context) {
  if (ArgReductionAttrs{*call.attrs}.selectLastIndex())
    return Error(ErrorCode::Unsupported,
                 fmt::format("{}: select_last_index is not supported", call.op->name));
  BATON_TRY(context.provideResultDType(0, DType::I32));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY_ASSIGN(const int resultRank, reducedRank(call, *rank));
  return oneResult(DType::I32, resultRank);
}

Result<std::vector<TensorDims>> argReductionDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> dims = copyDims(context, 0);
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(dims.size())));
  DimExpr count = DimExpr::constant(1);
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (isReduced[axis]) count = count * dims[axis];
  BATON_TRY(
      context.require(count, Relation::Ge, DimExpr::constant(1),
                      fmt::format("{}: there is nothing to choose from ({{0}} elements)", call.op->name)));
  BATON_TRY(context.require(count, Relation::Le, DimExpr::constant(INT32_MAX),
                            fmt::format("{}: {{0}} elements have more positions than int32", call.op->name)));
  return reductionDims(call, context);
}

std::optional<std::vector<DimExpr>> reductionValues(const OpCall& call, DimsContext& context,
                                                    const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  const DType dtype = context.dtype(0);
  const std::optional<size_t> count = valueCount(result);
  if (values == nullptr || values->empty() || !isInteger(dtype) || !count) return std::nullopt;
  const Result<std::vector<bool>> isReduced = reducedAxes(call, static_cast<int>(context.dims(0).size()));
  if (!isReduced) return std::nullopt;
  if (isReduced.assume_value().empty() || !isReduced.assume_value()[0]) return *values;
  DimExpr total = values->front();
  for (size_t i = 1; i < values->size(); ++i) {
    const DimExpr before = total;
    const DimExpr& next = (*values)[i];
    if (call.op->name == "sum")
      total = total + next;
    else if (call.op->name == "prod")
      total = total * next;
    else
      total = call.op->name == "max" ? max(total, next) : min(total, next);
    if (!(total == before) && !(total == next) && !fitsDType(context, total, dtype)) return std::nullopt;
  }
  return std::vector<DimExpr>{std::move(total)};
}

}  // namespace baton::ops

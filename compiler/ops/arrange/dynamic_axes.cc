// dyn.expand_dims and dyn.squeeze: axes that only the run tells. The rank is known all the same, and
// which extent is where is arithmetic on the axes.
#include <fmt/format.h>

#include "base/limits.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

DimExpr clamped(const DimExpr& x, int64_t low, int64_t high) {
  return max(min(x, DimExpr::constant(high)), DimExpr::constant(low));
}
/// 1 where it holds, else 0.
DimExpr isPositive(const DimExpr& x) { return clamped(x, 0, 1); }
DimExpr isEqual(const DimExpr& a, const DimExpr& b) { return max(one() - distance(a, b), DimExpr()); }

/// An extent that is a sum over what the axes may be: where they are not known it becomes one term, so
/// that products of extents do not multiply it out.
DimExpr extentFrom(DimExpr sum, const std::vector<DimExpr>& axes) {
  return asConstants(axes) ? sum : max(sum, DimExpr());
}

/// Elements of the axes, in [0, rank).
Result<std::vector<DimExpr>> givenAxes(const OpCall& call, DimsContext& context, size_t rank) {
  const std::vector<DimExpr>* values = context.valuesOrSymbols(1);
  if (values == nullptr) return opError(call, "the number of axes is not known when compiling");
  std::vector<DimExpr> axes = *values;
  const auto count = static_cast<int64_t>(rank);
  for (DimExpr& axis : axes) {
    const std::string message =
        fmt::format("{}: axis {{0}} is outside [{}, {})", call.op->name, -count, count);
    BATON_TRY(context.require(axis, Relation::Ge, DimExpr::constant(-count), message));
    BATON_TRY(context.require(axis, Relation::Lt, DimExpr::constant(count), message));
    axis = axis + isPositive(DimExpr() - axis) * DimExpr::constant(count);
  }
  return axes;
}

}  // namespace

Result<std::optional<StructureResult>> dynamicExpandDimsStructure(const OpCall& call,
                                                                  StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const int64_t count = DynamicExpandDimsAttrs{*call.attrs}.numNewaxis();
  if (count < 0 || count > kMaxRank)
    return opError(call, fmt::format("num_newaxis is {}; expected 0 to {}", count, kMaxRank));
  const std::optional<int> axisRank = context.rank(1);
  if (axisRank && *axisRank != 0) BATON_TRY(context.requireRank(1, 1));
  const std::optional<int64_t> axes = axisRank == 1 ? context.length(1) : std::nullopt;
  if (axes && *axes != 1) return opError(call, fmt::format("{} axes are given; expected one", *axes));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype || !axisRank) return std::nullopt;
  return oneResult(*dtype, *rank + static_cast<int>(count));
}

Result<std::vector<TensorDims>> dynamicExpandDimsDims(const OpCall& call, DimsContext& context) {
  const auto count = static_cast<size_t>(DynamicExpandDimsAttrs{*call.attrs}.numNewaxis());
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY_ASSIGN(const std::vector<DimExpr> axes, givenAxes(call, context, data.size() + 1));
  if (axes.size() != 1) return opError(call, fmt::format("{} axes are given; expected one", axes.size()));
  TensorDims result;
  for (size_t i = 0; i < data.size() + count; ++i) {
    const DimExpr position = DimExpr::constant(static_cast<int64_t>(i));
    const DimExpr isBefore = isPositive(axes[0] - position);
    const DimExpr isAfter =
        isPositive(position - axes[0] - DimExpr::constant(static_cast<int64_t>(count)) + one());
    DimExpr extent = one() - isBefore - isAfter;
    if (i < data.size()) extent = extent + isBefore * data[i];
    if (i >= count) extent = extent + isAfter * data[i - count];
    result.extents.push_back(extentFrom(std::move(extent), axes));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> dynamicSqueezeStructure(const OpCall& call,
                                                               StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY(context.requireRank(1, 1));
  const std::optional<int> rank = context.rank(0);
  const std::optional<int64_t> count = context.length(1);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !count || !dtype) return std::nullopt;
  if (*count > *rank) return opError(call, fmt::format("{} axes are given for rank {}", *count, *rank));
  return oneResult(*dtype, *rank - static_cast<int>(*count));
}

Result<std::vector<TensorDims>> dynamicSqueezeDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY_ASSIGN(const std::vector<DimExpr> axes, givenAxes(call, context, data.size()));
  std::vector<DimExpr> isGone(data.size());
  DimExpr goneCount;
  for (size_t i = 0; i < data.size(); ++i) {
    for (const DimExpr& axis : axes)
      isGone[i] = max(isGone[i], isEqual(axis, DimExpr::constant(static_cast<int64_t>(i))));
    goneCount = goneCount + isGone[i];
    BATON_TRY(context.require(
        isGone[i] * (data[i] - one()), Relation::Eq, DimExpr(),
        fmt::format("{}: dimension {} of the data is {{0}}; expected 1", call.op->name, i), {data[i]}));
  }
  BATON_TRY(context.require(goneCount, Relation::Eq, DimExpr::constant(static_cast<int64_t>(axes.size())),
                            fmt::format("{}: an axis is listed twice", call.op->name)));
  TensorDims result{std::vector<DimExpr>(data.size() - axes.size())};
  DimExpr position;  // where an extent that stays comes to be
  for (size_t i = 0; i < data.size(); ++i) {
    const DimExpr stays = one() - isGone[i];
    for (size_t at = 0; at < result.extents.size() && at <= i; ++at)
      result.extents[at] = result.extents[at] +
                           stays * isEqual(position, DimExpr::constant(static_cast<int64_t>(at))) * data[i];
    position = position + stays;
  }
  for (DimExpr& extent : result.extents) extent = extentFrom(std::move(extent), axes);
  return std::vector<TensorDims>{std::move(result)};
}

}  // namespace baton::ops

// reshape_like, slice_like and ndarray_size: shapes of tensors whose elements do not matter.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// Axes [begin, end) of a tensor.
struct AxisRange {
  size_t begin;
  size_t end;
};

/// Negative ends count from the end; no `last`: to the end.
Result<AxisRange> axisRange(const OpCall& call, std::string_view side, int64_t first,
                            std::optional<int64_t> last, int rank) {
  const auto counted = [&](int64_t axis) { return axis < 0 ? axis + rank : axis; };
  const int64_t begin = counted(first);
  const int64_t end = counted(last.value_or(rank));
  if (begin < 0 || begin > end || end > rank)
    return opError(call, fmt::format("{0}_begin {1} and {0}_end {2} are no range of {3} axes", side, first,
                                     last.value_or(rank), rank));
  return AxisRange{static_cast<size_t>(begin), static_cast<size_t>(end)};
}

Result<AxisRange> replacedAxes(const OpCall& call, int rank) {
  const ReshapeLikeAttrs attrs{*call.attrs};
  return axisRange(call, "lhs", attrs.lhsBegin(), attrs.lhsEnd(), rank);
}
Result<AxisRange> copiedAxes(const OpCall& call, int rank) {
  const ReshapeLikeAttrs attrs{*call.attrs};
  return axisRange(call, "rhs", attrs.rhsBegin(), attrs.rhsEnd(), rank);
}

}  // namespace

Result<std::optional<StructureResult>> reshapeLikeStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<int> otherRank = context.rank(1);
  if (!rank || !otherRank) return std::nullopt;
  BATON_TRY_ASSIGN(const AxisRange replaced, replacedAxes(call, *rank));
  BATON_TRY_ASSIGN(const AxisRange copied, copiedAxes(call, *otherRank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank + static_cast<int>(copied.end - copied.begin) -
                               static_cast<int>(replaced.end - replaced.begin));
}

Result<std::vector<TensorDims>> reshapeLikeDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  std::vector<DimExpr>& extents = result.extents;
  const std::vector<DimExpr> other = copyDims(context, 1);
  BATON_TRY_ASSIGN(const AxisRange replaced, replacedAxes(call, static_cast<int>(extents.size())));
  BATON_TRY_ASSIGN(const AxisRange copied, copiedAxes(call, static_cast<int>(other.size())));
  const std::span<const DimExpr> from =
      std::span<const DimExpr>(extents).subspan(replaced.begin, replaced.end - replaced.begin);
  const std::span<const DimExpr> to =
      std::span<const DimExpr>(other).subspan(copied.begin, copied.end - copied.begin);
  std::vector<DimExpr> shown(from.begin(), from.end());
  shown.insert(shown.end(), to.begin(), to.end());
  BATON_TRY(context.require(
      product(from), Relation::Eq, product(to),
      fmt::format("reshape_like: the shapes {} and {} have different numbers of elements",
                  shapePlaceholders(0, from.size()), shapePlaceholders(from.size(), to.size())),
      std::move(shown)));
  const auto first = extents.begin() + static_cast<std::ptrdiff_t>(replaced.begin);
  extents.erase(first, extents.begin() + static_cast<std::ptrdiff_t>(replaced.end));
  extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(replaced.begin), to.begin(), to.end());
  return std::vector<TensorDims>{std::move(result)};
}

Result<void> reshapeToResultLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const TensorId result, context.reshape(context.input(0), context.resultDims()));
  context.become({result});
  return success();
}

namespace {

/// Which axes get the extent of the other tensor.
Result<std::vector<bool>> slicedAxes(const OpCall& call, int rank, int otherRank) {
  const std::vector<int64_t>* listed = SliceLikeAttrs{*call.attrs}.axes();
  std::vector<bool> isSliced(static_cast<size_t>(rank), false);
  if (listed == nullptr || listed->empty()) {
    std::fill_n(isSliced.begin(), std::min(rank, otherRank), true);
    return isSliced;
  }
  for (const int64_t axis : *listed) {
    BATON_TRY_ASSIGN(const int normal, normaliseAxis(call, "axis", axis, rank));
    if (normal >= otherRank)
      return opError(call, fmt::format("the shape has rank {}, and no axis {}", otherRank, normal));
    isSliced[static_cast<size_t>(normal)] = true;
  }
  return isSliced;
}

}  // namespace

Result<std::optional<StructureResult>> sliceLikeStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<int> otherRank = context.rank(1);
  if (!rank || !otherRank) return std::nullopt;
  BATON_TRY(slicedAxes(call, *rank, *otherRank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> sliceLikeDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  const std::vector<DimExpr> other = copyDims(context, 1);
  BATON_TRY_ASSIGN(const std::vector<bool> isSliced,
                   slicedAxes(call, static_cast<int>(result.extents.size()), static_cast<int>(other.size())));
  for (size_t axis = 0; axis < isSliced.size(); ++axis) {
    if (!isSliced[axis]) continue;
    BATON_TRY(context.require(
        other[axis], Relation::Le, result.extents[axis],
        fmt::format("slice_like: dimension {} of the shape ({{0}}) is greater than that of the data ({{1}})",
                    axis)));
    result.extents[axis] = other[axis];
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<void> sliceLikeLegal(ExpandContext& context) {
  const std::vector<DimExpr> end = context.resultDims();
  ir::Attrs attrs;
  attrs.set("begin", std::vector<DimExpr>(end.size()));
  attrs.set("end", end);
  BATON_TRY_ASSIGN(const TensorId result, context.make("strided_slice", attrs, {context.input(0)}));
  context.become({result});
  return success();
}
Result<void> sliceLikeReference(ReferenceCall& call) {
  forEachPosition(call.results[0].shape,
                  [&](std::span<const int64_t> index) { call.store(0, index, call.load(0, index)); });
  return success();
}

Result<std::optional<StructureResult>> ndarraySizeStructure(const OpCall& call, StructureContext& context) {
  const DType dtype = NdarraySizeAttrs{*call.attrs}.dtype();
  if (!isInteger(dtype))
    return opError(call, fmt::format("the result has type {}; expected an integer type", dtypeName(dtype)));
  BATON_TRY(context.provideResultDType(0, dtype));
  return oneResult(dtype, 0);
}

Result<std::vector<TensorDims>> ndarraySizeDims(const OpCall& call, DimsContext& context) {
  const DType dtype = NdarraySizeAttrs{*call.attrs}.dtype();
  const int bits = 8 * sizeBytes(dtype) - (isSignedInt(dtype) ? 1 : 0);
  if (bits < 63)
    BATON_TRY(context.require(product(copyDims(context, 0)), Relation::Le,
                              DimExpr::constant((int64_t{1} << bits) - 1),
                              fmt::format("ndarray_size: {{0}} does not fit {}", dtypeName(dtype))));
  return std::vector<TensorDims>{{}};
}

std::optional<std::vector<DimExpr>> ndarraySizeValues(const OpCall&, DimsContext& context,
                                                      const TensorDims&) {
  DimExpr count = product(copyDims(context, 0));
  if (count.isTooLarge()) return std::nullopt;
  return std::vector<DimExpr>{std::move(count)};
}

Result<void> ndarraySizeLegal(ExpandContext& context) {
  ir::Attrs wide;
  wide.set("dtype", DType::I64);
  BATON_TRY_ASSIGN(const TensorId shape, context.make("shape_of", wide, {context.input(0)}));
  BATON_TRY_ASSIGN(const TensorId count, context.make("prod", {}, {shape}));
  BATON_TRY_ASSIGN(const TensorId result, context.cast(count, context.resultType()));
  context.become({result});
  return success();
}
Result<void> ndarraySizeReference(ReferenceCall& call) {
  call.store(
      0, 0, convertScalar(scalarBits(elementCount(call.inputs[0].shape)), DType::I64, call.results[0].dtype));
  return success();
}

}  // namespace baton::ops

// Matrix products.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// The result's dtype: `out_dtype` where it is given, and then at least as wide as the data.
Result<DType> productDType(const OpCall& call, DType data, std::optional<DType> requested) {
  const DType out = requested.value_or(data);
  if (out == data) return out;
  const bool isSameClass = isFloat(out) ? isFloat(data) : isInteger(out) && isInteger(data);
  if (!isSameClass || sizeBytes(out) < sizeBytes(data))
    return opError(call,
                   fmt::format("out_dtype {} cannot hold products of {}", dtypeName(out), dtypeName(data)));
  return out;
}

/// What the products have in common once ranks are settled: one dtype in, one out.
Result<std::optional<StructureResult>> productStructure(const OpCall& call, StructureContext& context,
                                                        std::optional<DType> requested,
                                                        std::optional<int> rank) {
  BATON_TRY(context.requireSameDType(0, 1));
  if (requested)
    BATON_TRY(context.provideResultDType(0, *requested));
  else
    BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  BATON_TRY_ASSIGN(const DType result, productDType(call, *dtype, requested));
  return oneResult(result, *rank);
}

Result<void> requireMatrix(const OpCall& call, StructureContext& context, int least) {
  const std::optional<int> rank = context.rank(0);
  if (!rank || *rank >= least) return success();
  context.blame(0);
  return opError(call,
                 fmt::format("the {} has rank {}; expected {} or more", inputName(call, 0), *rank, least));
}

Result<void> requireInner(const OpCall& call, DimsContext& context, const DimExpr& a, size_t aAxis,
                          const DimExpr& b, size_t bAxis) {
  context.blame(0);
  return context.require(
      a, Relation::Eq, b,
      fmt::format("{}: dimension {} of the {} ({{0}}) does not match dimension {} of the {} ({{1}})",
                  call.op->name, aAxis, inputName(call, 0), bAxis, inputName(call, 1)));
}

/// The extent along the rows of the weight, held against `units`.
Result<DimExpr> outerExtent(const OpCall& call, DimsContext& context, const DimExpr& extent, size_t axis,
                            std::optional<int64_t> units) {
  if (!units) return extent;
  return requireEqual(context, extent, DimExpr::constant(*units),
                      fmt::format("{}: dimension {} of the {} ({{0}}) does not match units ({{1}})",
                                  call.op->name, axis, inputName(call, 1)));
}

}  // namespace

Result<std::optional<StructureResult>> denseStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(1, 2));
  BATON_TRY(requireMatrix(call, context, 1));
  return productStructure(call, context, DenseAttrs{*call.attrs}.outDtype(), context.rank(0));
}

Result<std::vector<TensorDims>> denseDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> weight = copyDims(context, 1);
  BATON_TRY(requireInner(call, context, data.back(), data.size() - 1, weight[1], 1));
  TensorDims result{data};
  BATON_TRY_ASSIGN(result.extents.back(),
                   outerExtent(call, context, weight[0], 0, DenseAttrs{*call.attrs}.units()));
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> matmulStructure(const OpCall& call, StructureContext& context) {
  const MatmulAttrs attrs{*call.attrs};
  BATON_TRY(context.requireRank(1, 2));
  BATON_TRY(requireMatrix(call, context, attrs.transposeA() ? 2 : 1));
  return productStructure(call, context, attrs.outDtype(), context.rank(0));
}

Result<std::vector<TensorDims>> matmulDims(const OpCall& call, DimsContext& context) {
  const MatmulAttrs attrs{*call.attrs};
  const std::vector<DimExpr> a = copyDims(context, 0);
  const std::vector<DimExpr> b = copyDims(context, 1);
  const size_t inner = attrs.transposeA() ? a.size() - 2 : a.size() - 1;
  const size_t rows = attrs.transposeB() ? 1 : 0;
  BATON_TRY(requireInner(call, context, a[inner], inner, b[rows], rows));
  TensorDims result{a};
  if (attrs.transposeA()) result.extents[a.size() - 2] = a.back();
  BATON_TRY_ASSIGN(result.extents.back(), outerExtent(call, context, b[1 - rows], 1 - rows, attrs.units()));
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> batchMatmulStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 3));
  return productStructure(call, context, BatchMatmulAttrs{*call.attrs}.outDtype(), 3);
}

Result<std::vector<TensorDims>> batchMatmulDims(const OpCall& call, DimsContext& context) {
  const BatchMatmulAttrs attrs{*call.attrs};
  const std::vector<DimExpr> a = copyDims(context, 0);
  const std::vector<DimExpr> b = copyDims(context, 1);
  const size_t aInner = attrs.transposeA() ? 1 : 2;
  const size_t bInner = attrs.transposeB() ? 2 : 1;
  BATON_TRY(requireInner(call, context, a[aInner], aInner, b[bInner], bInner));
  BATON_TRY_ASSIGN(
      DimExpr batch,
      broadcastExtent(context, a[0], b[0],
                      "nn.batch_matmul: batches of {0} and of {1} matrices do not broadcast", {a[0], b[0]}));
  return std::vector<TensorDims>{{{std::move(batch), a[3 - aInner], b[3 - bInner]}}};
}

}  // namespace baton::ops

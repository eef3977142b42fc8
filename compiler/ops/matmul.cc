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

}  // namespace

Result<std::optional<StructureResult>> denseStructure(const OpCall& call, StructureContext& context) {
  const DenseAttrs attrs{*call.attrs};
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireRank(1, 2));
  if (attrs.outDtype())
    BATON_TRY(context.provideResultDType(0, *attrs.outDtype()));
  else
    BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  if (*rank == 0) {
    context.blame(0);
    return opError(call, "the data is a scalar; expected rank 1 or more");
  }
  BATON_TRY_ASSIGN(const DType result, productDType(call, *dtype, attrs.outDtype()));
  return oneResult(result, *rank);
}

Result<std::vector<TensorDims>> denseDims(const OpCall& call, DimsContext& context) {
  const DenseAttrs attrs{*call.attrs};
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> weight = copyDims(context, 1);
  BATON_TRY(context.require(
      data.back(), Relation::Eq, weight[1],
      fmt::format(
          "nn.dense: dimension {} of the data ({{0}}) does not match dimension 1 of the weight ({{1}})",
          data.size() - 1)));
  TensorDims result{data};
  result.extents.back() = weight[0];
  if (attrs.units()) {
    const DimExpr units = DimExpr::constant(*attrs.units());
    BATON_TRY_ASSIGN(result.extents.back(),
                     requireEqual(context, weight[0], units,
                                  "nn.dense: dimension 0 of the weight ({0}) does not match units ({1})"));
  }
  return std::vector<TensorDims>{std::move(result)};
}

}  // namespace baton::ops

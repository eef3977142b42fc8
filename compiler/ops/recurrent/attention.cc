// attention: products of matrices around a softmax.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/wide_expansion.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

Result<std::optional<StructureResult>> attentionStructure(const OpCall& call, StructureContext& context) {
  for (size_t i = 1; i < 3; ++i) {
    BATON_TRY(context.requireSameDType(0, i));
    BATON_TRY(context.requireSameRank(0, i));
  }
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (rank && *rank < 2)
    return opError(call, fmt::format("the query has rank {}; expected 2 or more", *rank));
  if (call.inputCount > 3) {
    context.blame(3);
    const std::optional<DType> mask = context.dtype(3);
    if (mask && dtype && *mask != DType::Bool && *mask != *dtype)
      return opError(call, fmt::format("the mask has element type {}; expected bool or that of the query, {}",
                                       dtypeName(*mask), dtypeName(*dtype)));
    const std::optional<int> maskRank = context.rank(3);
    if (maskRank && rank && *maskRank > *rank)
      return opError(call, fmt::format("the mask has rank {}; expected at most that of the query, {}",
                                       *maskRank, *rank));
    if (!mask || !maskRank) return std::nullopt;
  }
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> attentionDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> query = copyDims(context, 0);
  const size_t rank = query.size();
  const auto require = [&](size_t input, size_t axis, size_t other) -> Result<void> {
    context.blame(input);
    const DimExpr found = context.dims(input)[axis];
    return context.require(
        found, Relation::Eq, DimExpr(context.dims(other)[axis]),
        fmt::format("attention: dimension {} of the {} ({{0}}) does not match that of the {} ({{1}})", axis,
                    inputName(call, input), inputName(call, other)));
  };
  for (size_t d = 0; d + 2 < rank; ++d)
    for (size_t input = 1; input < 3; ++input) BATON_TRY(require(input, d, 0));
  BATON_TRY(require(1, rank - 1, 0));
  BATON_TRY(require(2, rank - 2, 1));
  TensorDims result{query};
  result.extents.back() = context.dims(2)[rank - 1];
  if (call.inputCount > 3) {
    context.blame(3);
    std::vector<DimExpr> products = query;
    products.back() = context.dims(1)[rank - 2];
    const std::vector<DimExpr> mask = copyDims(context, 3);
    for (size_t d = 0; d < mask.size(); ++d) {
      const DimExpr& wanted = products[rank - mask.size() + d];
      const std::string message =
          fmt::format("attention: dimension {} of the mask is {{0}}; expected 1 or {{1}}", d);
      // One of the two is 0, so their product is.
      if (context.decide(mask[d], Relation::Eq, one()) == Truth::True) continue;
      if (context.decide(mask[d], Relation::Ne, one()) == Truth::True)
        BATON_TRY(context.require(mask[d], Relation::Eq, wanted, message));
      else
        BATON_TRY(context.require(distance(mask[d], one()) * distance(mask[d], wanted), Relation::Eq,
                                  DimExpr(), message, {mask[d], wanted}));
    }
  }
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

/// (batch, rows, columns)
Result<TensorId> asMatrices(ExpandContext& context, TensorId tensor) {
  const std::vector<DimExpr> dims = context.dims(tensor);
  const size_t lead = dims.size() - 2;
  return context.reshape(tensor, {product(std::span(dims).first(lead)), dims[lead], dims[lead + 1]});
}

/// Places of an axis, as a vector: 0, 1, ...
Result<TensorId> places(ExpandContext& context, TensorId tensor, size_t axis) {
  BATON_TRY_ASSIGN(const TensorId count, context.extentOf(tensor, axis));
  return context.make("arange", {}, {context.scalar(DType::I64, 0), count, context.scalar(DType::I64, 1)});
}

}  // namespace

Result<void> attentionLegal(ExpandContext& context) {
  const AttentionAttrs attrs{*context.call().attrs};
  WideExpansion e(context);
  const std::vector<DimExpr> dims = context.resultDims();
  const size_t rank = dims.size();
  BATON_TRY_ASSIGN(const TensorId query, e.input(0));
  BATON_TRY_ASSIGN(const TensorId key, e.input(1));
  BATON_TRY_ASSIGN(const TensorId value, e.input(2));
  BATON_TRY_ASSIGN(const TensorId queries, asMatrices(context, query));
  BATON_TRY_ASSIGN(const TensorId keys, asMatrices(context, key));
  BATON_TRY_ASSIGN(const TensorId values, asMatrices(context, value));
  ir::Attrs transposed;
  transposed.set("transpose_b", true);
  BATON_TRY_ASSIGN(const TensorId products, context.make("nn.batch_matmul", transposed, {queries, keys}));
  std::vector<DimExpr> extents = context.dims(context.input(0));
  extents.back() = context.dims(context.input(1))[rank - 2];
  BATON_TRY_ASSIGN(TensorId scores, context.reshape(products, extents));
  TensorId scale{};
  if (const std::optional<double> given = attrs.scale()) {
    scale = e.number(*given);
  } else {
    BATON_TRY_ASSIGN(const TensorId width, context.extentOf(query, rank - 1));
    BATON_TRY_ASSIGN(const TensorId wideWidth, e.wide(width));
    BATON_TRY_ASSIGN(scale, e.apply("rsqrt", {wideWidth}));
  }
  BATON_TRY_ASSIGN(scores, e.apply("multiply", {scores, scale}));
  const TensorId unseen = e.number(-INFINITY);
  if (context.call().inputCount > 3) {
    if (context.dtype(context.input(3)) == DType::Bool) {
      BATON_TRY_ASSIGN(scores, e.apply("where", {context.input(3), scores, unseen}));
    } else {
      BATON_TRY_ASSIGN(const TensorId mask, e.input(3));
      BATON_TRY_ASSIGN(scores, e.apply("add", {scores, mask}));
    }
  }
  if (attrs.causal()) {
    BATON_TRY_ASSIGN(const TensorId rows, places(context, query, rank - 2));
    BATON_TRY_ASSIGN(const TensorId column, context.reshape(rows, {context.dims(rows)[0], one()}));
    BATON_TRY_ASSIGN(const TensorId columns, places(context, key, rank - 2));
    BATON_TRY_ASSIGN(const TensorId isSeen, e.apply("less_equal", {columns, column}));
    BATON_TRY_ASSIGN(scores, e.apply("where", {isSeen, scores, unseen}));
  }
  BATON_TRY_ASSIGN(const TensorId weights, e.apply("nn.softmax", {scores}));
  BATON_TRY_ASSIGN(const TensorId weightMatrices, asMatrices(context, weights));
  BATON_TRY_ASSIGN(const TensorId sums, context.make("nn.batch_matmul", {}, {weightMatrices, values}));
  BATON_TRY_ASSIGN(const TensorId whole, context.reshape(sums, dims));
  BATON_TRY_ASSIGN(const TensorId result, e.narrow(whole));
  context.become({result});
  return success();
}

namespace {

template <class T>
void plainAttention(ReferenceCall& call) {
  const AttentionAttrs attrs{*call.call.attrs};
  const auto shape = call.inputs[0].shape;
  const size_t rank = shape.size();
  const int64_t width = shape[rank - 1];
  const int64_t count = call.extent(1, rank - 2);
  const auto element = [&](size_t input, std::vector<int64_t> at, int64_t row, int64_t column) {
    at[rank - 2] = row;
    at[rank - 1] = column;
    const DType type = call.inputs[input].dtype;
    const std::vector<int64_t> own = broadcastIndex(call.inputs[input].shape, at);
    return scalarFromBits<T>(convertScalar(call.load(input, own), type, accumulationType(type)));
  };
  const T scale = attrs.scale() ? static_cast<T>(*attrs.scale()) : math::rsqrt(static_cast<T>(width));
  const bool hasMask = call.inputs.size() > 3;
  const bool isTruth = hasMask && call.inputs[3].dtype == DType::Bool;
  std::vector<int64_t> rows(shape.begin(), shape.end());
  rows.back() = 1;
  forEachPosition(rows, [&](std::span<const int64_t> index) {
    const std::vector<int64_t> at(index.begin(), index.end());
    const int64_t row = at[rank - 2];
    std::vector<T> weights;
    T most = -INFINITY;
    for (int64_t k = 0; k < count; ++k) {
      T sum{};
      for (int64_t i = 0; i < width; ++i) sum = std::fma(element(0, at, row, i), element(1, at, k, i), sum);
      T score = sum * scale;
      if (isTruth) {
        std::vector<int64_t> place = at;
        place[rank - 1] = k;
        if (call.load(3, broadcastIndex(call.inputs[3].shape, place)) == 0) score = -INFINITY;
      } else if (hasMask) {
        score = score + element(3, at, row, k);
      }
      if (attrs.causal() && k > row) score = -INFINITY;
      most = std::isnan(score) || std::isnan(most) ? NAN : std::max(most, score);
      weights.push_back(score);
    }
    for (T& weight : weights) weight = math::exp(weight - most);
    const T total = reduceInOrder(weights, T{0}, [](T a, T b) { return a + b; });
    for (T& weight : weights) weight = weight / total;
    for (int64_t column = 0; column < call.results[0].shape[rank - 1]; ++column) {
      T sum{};
      for (int64_t k = 0; k < count; ++k)
        sum = std::fma(weights[static_cast<size_t>(k)], element(2, at, k, column), sum);
      std::vector<int64_t> place = at;
      place[rank - 1] = column;
      const DType type = call.results[0].dtype;
      call.store(0, place, convertScalar(scalarBits(sum), accumulationType(type), type));
    }
  });
}

}  // namespace

Result<void> attentionReference(ReferenceCall& call) {
  call.inputs[0].dtype == DType::F64 ? plainAttention<double>(call) : plainAttention<float>(call);
  return success();
}

}  // namespace baton::ops

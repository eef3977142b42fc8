// unique: each value once. Where values are equal follows from their order, so it is written with argsort.
#include <algorithm>
#include <numeric>

#include "compiler/ops/declarations.h"
#include "compiler/ops/gather/sort_order.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> uniqueStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 1));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  StructureResult result{{{*dtype, 1}, {DType::I32, 1}, {DType::I32, 1}, {DType::I32, 1}}, true};
  if (UniqueAttrs{*call.attrs}.returnCounts()) result.results.push_back({DType::I32, 1});
  return result;
}
Result<std::vector<TensorDims>> uniqueDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY(context.require(data[0], Relation::Le, DimExpr::constant(INT32_MAX),
                            "unique: the data has more elements ({0}) than int32 has indices"));
  const TensorDims distinct{{context.fresh("distinct")}};
  std::vector<TensorDims> results = {distinct, distinct, {data}, {{one()}}};
  if (UniqueAttrs{*call.attrs}.returnCounts()) results.push_back(distinct);
  return results;
}

namespace {

/// Calls on vectors along their only axis.
class UniqueExpansion {
 public:
  explicit UniqueExpansion(ExpandContext& context) : context_(context) {}

  Result<TensorId> apply(std::string_view op, const std::vector<TensorId>& inputs) {
    return context_.make(op, {}, inputs);
  }
  TensorId number(int64_t value) { return context_.scalar(DType::I32, static_cast<double>(value)); }
  /// Whether two are the same value; NaN is one, and -0 is 0.
  Result<TensorId> areSame(TensorId a, TensorId b) {
    BATON_TRY_ASSIGN(const TensorId same, apply("equal", {a, b}));
    if (!isFloat(context_.dtype(a))) return same;
    BATON_TRY_ASSIGN(const TensorId first, apply("isnan", {a}));
    BATON_TRY_ASSIGN(const TensorId second, apply("isnan", {b}));
    BATON_TRY_ASSIGN(const TensorId neither, apply("logical_and", {first, second}));
    return apply("logical_or", {same, neither});
  }

 private:
  ExpandContext& context_;
};

}  // namespace

Result<void> uniqueLegal(ExpandContext& context) {
  const UniqueAttrs attrs{*context.call().attrs};
  UniqueExpansion e(context);
  const TensorId data = context.input(0);
  BATON_TRY_ASSIGN(const TensorId order, e.apply("argsort", {data}));
  BATON_TRY_ASSIGN(const TensorId sorted, context.takeRows(data, order));
  BATON_TRY_ASSIGN(const TensorId length, context.extentOf(data, 0, DType::I32));
  BATON_TRY_ASSIGN(const TensorId places, e.apply("arange", {e.number(0), length, e.number(1)}));
  // Of equal ones the first has nothing equal before it.
  BATON_TRY_ASSIGN(const TensorId previous, e.apply("subtract", {places, e.number(1)}));
  BATON_TRY_ASSIGN(const TensorId before, context.takeRows(sorted, previous));
  BATON_TRY_ASSIGN(const TensorId same, e.areSame(sorted, before));
  BATON_TRY_ASSIGN(const TensorId isLater, e.apply("greater", {places, e.number(0)}));
  BATON_TRY_ASSIGN(const TensorId isRepeated, e.apply("logical_and", {same, isLater}));
  BATON_TRY_ASSIGN(const TensorId isFirst, e.apply("logical_not", {isRepeated}));
  BATON_TRY_ASSIGN(const TensorId firsts, context.cast(isFirst, DType::I32));
  BATON_TRY_ASSIGN(const TensorId count, e.apply("sum", {firsts}));
  BATON_TRY_ASSIGN(const TensorId rows, e.apply("argwhere.rows", {isFirst, count}));
  BATON_TRY_ASSIGN(const TensorId starts, context.reshape(rows, {context.dims(rows)[0]}));
  // The order keeps equal elements as they are, so this is where each value occurs first.
  BATON_TRY_ASSIGN(TensorId indices, context.takeRows(order, starts));
  BATON_TRY_ASSIGN(const TensorId counted, e.apply("cumsum", {firsts}));
  BATON_TRY_ASSIGN(const TensorId numbers, e.apply("subtract", {counted, e.number(1)}));
  BATON_TRY_ASSIGN(const TensorId nothing, e.apply("zeros_like", {numbers}));
  BATON_TRY_ASSIGN(TensorId inverse, e.apply("scatter_elements", {nothing, order, numbers}));
  std::optional<TensorId> counts;
  if (attrs.returnCounts()) {
    ir::Attrs adding;
    adding.set("reduction", std::string("add"));
    BATON_TRY_ASSIGN(const TensorId zeros, e.apply("zeros_like", {indices}));
    BATON_TRY_ASSIGN(const TensorId ones, e.apply("ones_like", {numbers}));
    BATON_TRY_ASSIGN(counts, context.make("scatter_elements", adding, {zeros, numbers, ones}));
  }
  if (!attrs.sorted()) {
    BATON_TRY_ASSIGN(const TensorId moved, e.apply("argsort", {indices}));
    BATON_TRY_ASSIGN(const TensorId place, e.apply("invert_permutation", {moved}));
    BATON_TRY_ASSIGN(indices, context.takeRows(indices, moved));
    BATON_TRY_ASSIGN(inverse, context.takeRows(place, inverse));
    if (counts) {
      BATON_TRY_ASSIGN(counts, context.takeRows(*counts, moved));
    }
  }
  BATON_TRY_ASSIGN(const TensorId values, context.takeRows(data, indices));
  BATON_TRY_ASSIGN(const TensorId total, context.reshape(count, {one()}));
  std::vector<TensorId> results = {values, indices, inverse, total};
  if (counts) results.push_back(*counts);
  context.become(std::move(results));
  return success();
}

Result<void> uniqueReference(ReferenceCall& call) {
  const UniqueAttrs attrs{*call.call.attrs};
  const DType dtype = call.inputs[0].dtype;
  const int64_t n = call.extent(0, 0);
  // Indices of the first of each value, and how often it occurs.
  std::vector<int64_t> firsts;
  std::vector<int64_t> counts;
  std::vector<size_t> group(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t value = call.load(0, i);
    const auto same = std::ranges::find_if(firsts, [&](int64_t j) {
      const uint64_t other = call.load(0, j);
      return !isSortedBefore(dtype, value, other) && !isSortedBefore(dtype, other, value);
    });
    group[static_cast<size_t>(i)] = static_cast<size_t>(same - firsts.begin());
    if (same == firsts.end()) {
      firsts.push_back(i);
      counts.push_back(0);
    }
    ++counts[group[static_cast<size_t>(i)]];
  }
  std::vector<size_t> order(firsts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (attrs.sorted())
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      return isSortedBefore(dtype, call.load(0, firsts[a]), call.load(0, firsts[b]));
    });
  const auto count = static_cast<int64_t>(firsts.size());
  for (const size_t result : {size_t{0}, size_t{1}, size_t{4}})
    if (result < call.results.size()) BATON_TRY(call.allocate(result, {count}));
  for (int64_t k = 0; k < count; ++k) {
    const size_t which = order[static_cast<size_t>(k)];
    call.store(0, k, call.load(0, firsts[which]));
    call.store(1, k, static_cast<uint64_t>(firsts[which]));
    if (attrs.returnCounts()) call.store(4, k, static_cast<uint64_t>(counts[which]));
    for (int64_t i = 0; i < n; ++i)
      if (group[static_cast<size_t>(i)] == which) call.store(2, i, static_cast<uint64_t>(k));
  }
  call.store(3, 0, static_cast<uint64_t>(count));
  return success();
}

}  // namespace baton::ops

// sort, argsort and topk: reshaped to three axes for the kernels of the library.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/gather/sort_order.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

size_t sortAxis(const OpCall& call, size_t rank) {
  Result<int> axis = normaliseAxis(call, "axis", call.attrs->intOf("axis"), static_cast<int>(rank));
  BATON_CHECK(axis.has_value());  // the structure has asked before
  return static_cast<size_t>(axis.assume_value());
}

/// Nothing while the rank is not known.
Result<bool> isAxisFine(const OpCall& call, const StructureContext& context) {
  const std::optional<int> rank = context.rank(0);
  if (!rank) return false;
  BATON_TRY(normaliseAxis(call, "axis", call.attrs->intOf("axis"), *rank));
  return true;
}

Result<void> requireThreeAxes(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 3));
  for (size_t scalar = 1; scalar < call.inputCount; ++scalar) BATON_TRY(context.requireRank(scalar, 0));
  if (const ir::AttrValue* value = call.attrs->find("dtype"))
    if (const DType dtype = std::get<DType>(*value); !isInClass(dtype, DTypeClass::Index))
      return opError(call, fmt::format("dtype is {}; expected int32 or int64", dtypeName(dtype)));
  return success();
}

// Requires 0 <= k <= n.
Result<void> requireCount(DimsContext& context, const DimExpr& k, const DimExpr& n) {
  context.blame(0);
  BATON_TRY(context.require(k, Relation::Ge, DimExpr(), "topk: k is negative ({0})"));
  return context.require(k, Relation::Le, n, "topk: k ({0}) is greater than the extent of the axis ({1})");
}

}  // namespace

Result<std::optional<StructureResult>> argsortStructure(const OpCall& call, StructureContext& context) {
  const DType dtype = ArgsortAttrs{*call.attrs}.dtype();
  BATON_TRY(context.provideResultDType(0, dtype));
  BATON_TRY_ASSIGN(const bool isKnown, isAxisFine(call, context));
  if (!isKnown) return std::nullopt;
  return oneResult(dtype, *context.rank(0));
}

Result<std::optional<StructureResult>> topkStructure(const OpCall& call, StructureContext& context) {
  const TopkAttrs attrs{*call.attrs};
  const std::string& wanted = attrs.retType();
  if (wanted != "both" && wanted != "values" && wanted != "indices")
    return opError(call,
                   fmt::format("ret_type is \"{}\"; expected \"both\", \"values\" or \"indices\"", wanted));
  if (call.inputCount == 2) BATON_TRY(context.requireRank(1, 0));
  BATON_TRY_ASSIGN(const bool isKnown, isAxisFine(call, context));
  if (wanted == "values") BATON_TRY(context.provideResultDTypeOf(0, 0));
  if (wanted == "indices") BATON_TRY(context.provideResultDType(0, attrs.dtype()));
  const std::optional<DType> dtype = context.dtype(0);
  if (!isKnown || !dtype) return std::nullopt;
  const int rank = *context.rank(0);
  if (wanted == "values") return oneResult(*dtype, rank);
  if (wanted == "indices") return oneResult(attrs.dtype(), rank);
  return StructureResult{{{*dtype, rank}, {attrs.dtype(), rank}}, true};
}

Result<std::vector<TensorDims>> topkDims(const OpCall& call, DimsContext& context) {
  const TopkAttrs attrs{*call.attrs};
  TensorDims result{copyDims(context, 0)};
  DimExpr& extent = result.extents[sortAxis(call, result.extents.size())];
  // All when below 1. What is not known to be above becomes an extent of its own.
  DimExpr k = DimExpr::constant(attrs.k());
  if (call.inputCount == 2) {
    const std::vector<DimExpr>* values = context.values(1);
    const bool isPositive =
        values != nullptr && context.decide((*values)[0], Relation::Ge, one()) == Truth::True;
    const bool isAll = values != nullptr && context.decide((*values)[0], Relation::Lt, one()) == Truth::True;
    k = isPositive ? (*values)[0] : isAll ? DimExpr() : context.fresh("k");
    if (isPositive) BATON_TRY(requireCount(context, k, extent));
    if (!isAll) extent = k;
  } else if (attrs.k() >= 1) {
    BATON_TRY(requireCount(context, k, extent));
    extent = k;
  }
  return std::vector<TensorDims>(attrs.retType() == "both" ? 2 : 1, result);
}

Result<std::optional<StructureResult>> librarySortStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  BATON_TRY(requireThreeAxes(call, context));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 3);
}

Result<std::optional<StructureResult>> libraryArgsortStructure(const OpCall& call,
                                                               StructureContext& context) {
  BATON_TRY(requireThreeAxes(call, context));
  return oneResult(LibraryArgsortAttrs{*call.attrs}.dtype(), 3);
}

Result<std::optional<StructureResult>> libraryTopkStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(requireThreeAxes(call, context));
  BATON_TRY(context.requireDType(2, DType::I64));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return StructureResult{{{*dtype, 3}, {LibraryTopkAttrs{*call.attrs}.dtype(), 3}}, true};
}
Result<std::vector<TensorDims>> libraryTopkDims(const OpCall&, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  const DimExpr k = (*context.valuesOrSymbols(2))[0];
  BATON_TRY(requireCount(context, k, result.extents[1]));
  result.extents[1] = k;
  return std::vector<TensorDims>{result, result};
}

namespace {

/// The kernels of the library sort along the middle one of three axes.
class ThreeAxes {
 public:
  ThreeAxes(ExpandContext& context)
      : context_(context), axis_(sortAxis(context.call(), context.rank(context.input(0)))) {}

  size_t axis() const { return axis_; }
  Result<TensorId> data() {
    const std::vector<DimExpr> dims = context_.dims(context_.input(0));
    return context_.reshape(context_.input(0), {product(std::span(dims).first(axis_)), dims[axis_],
                                                product(std::span(dims).subspan(axis_ + 1))});
  }
  TensorId upwards() {
    return context_.scalar(DType::Bool, context_.call().attrs->boolOf("is_ascend") ? 1 : 0);
  }
  /// A result with the axes of the data, in the type that is wanted.
  Result<TensorId> result(TensorId of, DType dtype) {
    std::vector<DimExpr> dims = context_.dims(context_.input(0));
    dims[axis_] = context_.dims(of)[1];
    BATON_TRY_ASSIGN(const TensorId whole, context_.reshape(of, std::move(dims)));
    return context_.cast(whole, dtype);
  }

 private:
  ExpandContext& context_;
  size_t axis_;
};

/// Of the indices that the kernels know; other types are cast to afterwards.
ir::Attrs indexAttr(DType wanted) {
  ir::Attrs attrs;
  attrs.set("dtype", wanted == DType::I32 ? DType::I32 : DType::I64);
  return attrs;
}

/// How many topk gives, as a tensor of rank 0.
Result<TensorId> countOf(ExpandContext& context, size_t axis) {
  const TopkAttrs attrs{*context.call().attrs};
  if (context.call().inputCount == 1 && attrs.k() >= 1)
    return context.scalar(DType::I64, static_cast<double>(attrs.k()));
  BATON_TRY_ASSIGN(const TensorId all, context.extentOf(context.input(0), axis));
  if (context.call().inputCount == 1) return all;
  BATON_TRY_ASSIGN(const TensorId k, context.cast(context.input(1), DType::I64));
  BATON_TRY_ASSIGN(const TensorId isAll, context.make("less", {}, {k, context.scalar(DType::I64, 1)}));
  return context.make("where", {}, {isAll, all, k});
}

}  // namespace

Result<void> sortLegal(ExpandContext& context) {
  ThreeAxes axes(context);
  BATON_TRY_ASSIGN(const TensorId data, axes.data());
  BATON_TRY_ASSIGN(const TensorId sorted, context.make("library.sort", {}, {data, axes.upwards()}));
  BATON_TRY_ASSIGN(const TensorId result, axes.result(sorted, context.resultType()));
  context.become({result});
  return success();
}

Result<void> argsortLegal(ExpandContext& context) {
  ThreeAxes axes(context);
  BATON_TRY_ASSIGN(const TensorId data, axes.data());
  BATON_TRY_ASSIGN(const TensorId order,
                   context.make("library.argsort", indexAttr(context.resultType()), {data, axes.upwards()}));
  BATON_TRY_ASSIGN(const TensorId result, axes.result(order, context.resultType()));
  context.become({result});
  return success();
}

Result<void> topkLegal(ExpandContext& context) {
  const TopkAttrs attrs{*context.call().attrs};
  ThreeAxes axes(context);
  BATON_TRY_ASSIGN(const TensorId data, axes.data());
  BATON_TRY_ASSIGN(const TensorId count, countOf(context, axes.axis()));
  BATON_TRY_ASSIGN(const std::vector<TensorId> found,
                   context.makeAll("library.topk", indexAttr(attrs.dtype()), {data, axes.upwards(), count}));
  std::vector<TensorId> results;
  if (attrs.retType() != "indices") {
    BATON_TRY_ASSIGN(const TensorId values, axes.result(found[0], context.dtype(context.input(0))));
    results.push_back(values);
  }
  if (attrs.retType() != "values") {
    BATON_TRY_ASSIGN(const TensorId indices, axes.result(found[1], attrs.dtype()));
    results.push_back(indices);
  }
  context.become(std::move(results));
  return success();
}

bool isSortedBefore(DType dtype, uint64_t a, uint64_t b) {
  if (isUnsignedInt(dtype) || dtype == DType::Bool) return a < b;
  if (isSignedInt(dtype)) return static_cast<int64_t>(a) < static_cast<int64_t>(b);
  const double x = scalarFromBits<double>(convertScalar(a, dtype, DType::F64));
  const double y = scalarFromBits<double>(convertScalar(b, dtype, DType::F64));
  return std::isnan(y) ? !std::isnan(x) : x < y;
}

namespace {

void storeOrder(ReferenceCall& call, size_t axis, bool isAscending, std::optional<size_t> values,
                std::optional<size_t> indices) {
  const DType dtype = call.inputs[0].dtype;
  forEachColumn(call, axis, [&](std::vector<int64_t>& at, std::span<const uint64_t> column) {
    std::vector<size_t> order(column.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      return isAscending ? isSortedBefore(dtype, column[a], column[b])
                         : isSortedBefore(dtype, column[b], column[a]);
    });
    order.resize(static_cast<size_t>(call.results[0].shape[axis]));
    for (const size_t index : order) {
      if (values) call.store(*values, at, column[index]);
      if (indices) call.store(*indices, at, convertScalar(index, DType::I64, call.results[*indices].dtype));
      ++at[axis];
    }
  });
}

Result<void> sortReferenceOf(ReferenceCall& call, std::optional<size_t> values,
                             std::optional<size_t> indices) {
  storeOrder(call, sortAxis(call.call, call.inputs[0].shape.size()), call.call.attrs->boolOf("is_ascend"),
             values, indices);
  return success();
}
Result<void> librarySortReferenceOf(ReferenceCall& call, std::optional<size_t> values,
                                    std::optional<size_t> indices) {
  storeOrder(call, 1, call.load(1, 0) != 0, values, indices);
  return success();
}

}  // namespace

Result<void> sortReference(ReferenceCall& call) { return sortReferenceOf(call, 0, std::nullopt); }
Result<void> argsortReference(ReferenceCall& call) { return sortReferenceOf(call, std::nullopt, 0); }
Result<void> topkReference(ReferenceCall& call) {
  const std::string& wanted = TopkAttrs{*call.call.attrs}.retType();
  if (wanted == "values") return sortReferenceOf(call, 0, std::nullopt);
  if (wanted == "indices") return sortReferenceOf(call, std::nullopt, 0);
  return sortReferenceOf(call, 0, 1);
}
Result<void> librarySortReference(ReferenceCall& call) {
  return librarySortReferenceOf(call, 0, std::nullopt);
}
Result<void> libraryArgsortReference(ReferenceCall& call) {
  return librarySortReferenceOf(call, std::nullopt, 0);
}
Result<void> libraryTopkReference(ReferenceCall& call) { return librarySortReferenceOf(call, 0, 1); }

}  // namespace baton::ops

// variance and logsumexp: reductions that are made of others.
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/wide_expansion.h"
#include "compiler/ops/reduction/reduction.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

Result<std::optional<StructureResult>> varianceStructure(const OpCall& call, StructureContext& context) {
  if (call.inputCount == 2) {
    BATON_TRY(context.requireSameDType(0, 1));
    BATON_TRY(context.requireSameRank(0, 1));
  }
  return reductionStructure(call, context);
}

Result<std::vector<TensorDims>> varianceDims(const OpCall& call, DimsContext& context) {
  if (call.inputCount == 2) {
    const std::vector<DimExpr> data = copyDims(context, 0);
    const std::vector<DimExpr> mean = copyDims(context, 1);
    BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(data.size())));
    context.blame(1);
    for (size_t axis = 0; axis < data.size(); ++axis)
      BATON_TRY(
          context.require(mean[axis], Relation::Eq, isReduced[axis] ? one() : data[axis],
                          fmt::format("variance: dimension {} of the mean is {{0}}; expected {{1}}", axis)));
  }
  return reductionDims(call, context);
}

namespace {

/// The axes of the call, or none of an attribute, as a list.
Result<std::vector<int64_t>> listedAxes(const OpCall& call, size_t rank) {
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(rank)));
  std::vector<int64_t> axes;
  for (size_t axis = 0; axis < rank; ++axis)
    if (isReduced[axis]) axes.push_back(static_cast<int64_t>(axis));
  return axes;
}

/// max(how many elements are reduced to one - 1, 0).
Result<TensorId> degreesOfFreedom(ExpandContext& context, const std::vector<int64_t>& axes) {
  TensorId count = context.scalar(DType::I64, 1);
  for (const int64_t axis : axes) {
    BATON_TRY_ASSIGN(const TensorId extent, context.extentOf(context.input(0), static_cast<size_t>(axis)));
    BATON_TRY_ASSIGN(count, context.make("multiply", {}, {count, extent}));
  }
  BATON_TRY_ASSIGN(const TensorId less, context.make("subtract", {}, {count, context.scalar(DType::I64, 1)}));
  return context.make("maximum", {}, {less, context.scalar(DType::I64, 0)});
}

/// With the axes that were kept, as the call wants it.
Result<void> becomeReduced(ExpandContext& context, WideExpansion& expansion, TensorId kept) {
  BATON_TRY_ASSIGN(TensorId result, expansion.narrow(kept));
  if (!ReductionAttrs{*context.call().attrs}.keepdims()) {
    BATON_TRY_ASSIGN(result, context.reshape(result, context.resultDims()));
  }
  context.become({result});
  return success();
}

}  // namespace

Result<void> varianceLegal(ExpandContext& context) {
  WideExpansion expansion(context);
  BATON_TRY_ASSIGN(const std::vector<int64_t> axes,
                   listedAxes(context.call(), context.rank(context.input(0))));
  BATON_TRY_ASSIGN(const TensorId data, expansion.input(0));
  TensorId mean;
  if (context.call().inputCount == 2) {
    BATON_TRY_ASSIGN(mean, expansion.input(1));
  } else {
    BATON_TRY_ASSIGN(mean, expansion.reduce("mean", data, axes));
  }
  BATON_TRY_ASSIGN(const TensorId centred, expansion.apply("subtract", {data, mean}));
  BATON_TRY_ASSIGN(const TensorId square, expansion.apply("multiply", {centred, centred}));
  if (!VarianceAttrs{*context.call().attrs}.unbiased()) {
    BATON_TRY_ASSIGN(const TensorId result, expansion.reduce("mean", square, axes));
    return becomeReduced(context, expansion, result);
  }
  BATON_TRY_ASSIGN(const TensorId total, expansion.reduce("sum", square, axes));
  BATON_TRY_ASSIGN(const TensorId freedom, degreesOfFreedom(context, axes));
  BATON_TRY_ASSIGN(const TensorId divisor, expansion.wide(freedom));
  BATON_TRY_ASSIGN(const TensorId result, expansion.apply("divide", {total, divisor}));
  return becomeReduced(context, expansion, result);
}

/// log(sum of exp(x - m)) + m, where m is the maximum, but 0 where that is not finite.
Result<void> logsumexpLegal(ExpandContext& context) {
  WideExpansion expansion(context);
  BATON_TRY_ASSIGN(const std::vector<int64_t> axes,
                   listedAxes(context.call(), context.rank(context.input(0))));
  BATON_TRY_ASSIGN(const TensorId data, expansion.input(0));
  BATON_TRY_ASSIGN(const TensorId greatest, expansion.reduce("max", data, axes));
  BATON_TRY_ASSIGN(const TensorId isNumber, expansion.apply("isfinite", {greatest}));
  BATON_TRY_ASSIGN(const TensorId base, expansion.apply("where", {isNumber, greatest, expansion.number(0)}));
  BATON_TRY_ASSIGN(const TensorId shifted, expansion.apply("subtract", {data, base}));
  BATON_TRY_ASSIGN(const TensorId power, expansion.apply("exp", {shifted}));
  BATON_TRY_ASSIGN(const TensorId total, expansion.reduce("sum", power, axes));
  BATON_TRY_ASSIGN(const TensorId log, expansion.apply("log", {total}));
  BATON_TRY_ASSIGN(const TensorId result, expansion.apply("add", {log, base}));
  return becomeReduced(context, expansion, result);
}

namespace {

template <class T>
T plainSum(const std::vector<T>& values) {
  return reduceInOrder(values, T{0}, [](T a, T b) { return a + b; });
}

/// `f(values, first)` gives what the elements become that are reduced to one; `first` is the index of
/// one of them, with 0 along the reduced axes.
template <class T, class F>
Result<void> plainReduction(ReferenceCall& call, F&& f) {
  const DType type = call.inputs[0].dtype;
  const auto shape = call.inputs[0].shape;
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call.call, static_cast<int>(shape.size())));
  std::vector<int64_t> outer(shape.begin(), shape.end());
  std::vector<int64_t> inner(shape.size(), 1);
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (isReduced[axis]) std::swap(outer[axis], inner[axis]);
  int64_t next = 0;
  forEachPosition(outer, [&](std::span<const int64_t> first) {
    std::vector<T> values;
    forEachPosition(inner, [&](std::span<const int64_t> step) {
      std::vector<int64_t> at(first.begin(), first.end());
      for (size_t axis = 0; axis < at.size(); ++axis) at[axis] += step[axis];
      values.push_back(scalarFromBits<T>(convertScalar(call.load(0, at), type, accumulationType(type))));
    });
    call.store(0, next++,
               convertScalar(scalarBits(static_cast<T>(f(values, first))), accumulationType(type), type));
  });
  return success();
}

template <class T>
Result<void> plainVariance(ReferenceCall& call) {
  return plainReduction<T>(call, [&](const std::vector<T>& values, std::span<const int64_t> first) {
    const auto count = static_cast<int64_t>(values.size());
    T mean = plainSum(values) / static_cast<T>(count);
    if (call.inputs.size() == 2)
      mean = scalarFromBits<T>(
          convertScalar(call.load(1, first), call.inputs[1].dtype, accumulationType(call.inputs[1].dtype)));
    std::vector<T> squares;
    for (const T x : values) squares.push_back((x - mean) * (x - mean));
    const int64_t divisor =
        VarianceAttrs{*call.call.attrs}.unbiased() ? std::max<int64_t>(count - 1, 0) : count;
    return plainSum(squares) / static_cast<T>(divisor);
  });
}

template <class T>
Result<void> plainLogsumexp(ReferenceCall& call) {
  return plainReduction<T>(call, [](const std::vector<T>& values, std::span<const int64_t>) {
    T base = -std::numeric_limits<T>::infinity();
    bool hasNan = false;
    for (const T x : values) {
      hasNan |= std::isnan(x);
      base = std::max(base, x);
    }
    if (hasNan || std::isinf(base)) base = 0;
    std::vector<T> powers;
    for (const T x : values) powers.push_back(math::exp(x - base));
    return math::log(plainSum(powers)) + base;
  });
}

}  // namespace

Result<void> varianceReference(ReferenceCall& call) {
  return call.inputs[0].dtype == DType::F64 ? plainVariance<double>(call) : plainVariance<float>(call);
}
Result<void> logsumexpReference(ReferenceCall& call) {
  return call.inputs[0].dtype == DType::F64 ? plainLogsumexp<double>(call) : plainLogsumexp<float>(call);
}

}  // namespace baton::ops

// nn.softmax and nn.log_softmax.
#include <cmath>
#include <limits>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

namespace {

/// In terms of other operators, in the type of accumulation, rounded once at the end.
Result<void> expandSoftmax(ExpandContext& context, bool isLog) {
  const DType type = context.resultType();
  const DType wide = accumulationType(type);
  ir::Attrs along;
  along.set("axis", std::vector<int64_t>{SoftmaxAttrs{*context.call().attrs}.axis()});
  along.set("keepdims", true);
  BATON_TRY_ASSIGN(const TensorId data, context.cast(context.input(0), wide));
  BATON_TRY_ASSIGN(const TensorId greatest, context.make("max", along, {data}));
  BATON_TRY_ASSIGN(const TensorId shifted, context.make("subtract", {}, {data, greatest}));
  BATON_TRY_ASSIGN(const TensorId power, context.make("exp", {}, {shifted}));
  BATON_TRY_ASSIGN(const TensorId total, context.make("sum", along, {power}));
  TensorId result;
  if (isLog) {
    BATON_TRY_ASSIGN(const TensorId log, context.make("log", {}, {total}));
    BATON_TRY_ASSIGN(result, context.make("subtract", {}, {shifted, log}));
  } else {
    BATON_TRY_ASSIGN(result, context.make("divide", {}, {power, total}));
  }
  BATON_TRY_ASSIGN(result, context.cast(result, type));
  context.become({result});
  return success();
}

/// The numbers along the axis, in the type of accumulation.
template <class T, class F>
void forEachRow(ReferenceCall& call, DType wide, size_t axis, F&& f) {
  forEachColumn(call, axis, [&](std::vector<int64_t>& at, std::span<const uint64_t> column) {
    std::vector<T> row;
    for (const uint64_t bits : column)
      row.push_back(scalarFromBits<T>(convertScalar(bits, call.inputs[0].dtype, wide)));
    f(row);
    for (const T x : row) {
      call.store(0, at, convertScalar(scalarBits(x), wide, call.results[0].dtype));
      ++at[axis];
    }
  });
}

template <class T>
Result<void> plainSoftmax(ReferenceCall& call, DType wide, size_t axis, bool isLog) {
  forEachRow<T>(call, wide, axis, [&](std::vector<T>& row) {
    T greatest = -std::numeric_limits<T>::infinity();
    for (const T x : row)
      greatest =
          std::isnan(greatest) || std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : std::max(greatest, x);
    std::vector<T> power;
    for (T& x : row) {
      x = x - greatest;
      power.push_back(math::exp(x));
    }
    const T total = reduceInOrder(power, T{0}, [](T a, T b) { return a + b; });
    for (size_t i = 0; i < row.size(); ++i) row[i] = isLog ? row[i] - math::log(total) : power[i] / total;
  });
  return success();
}

Result<void> softmaxReferenceOf(ReferenceCall& call, bool isLog) {
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", SoftmaxAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.inputs[0].shape.size())));
  const DType wide = accumulationType(call.inputs[0].dtype);
  return wide == DType::F64 ? plainSoftmax<double>(call, wide, static_cast<size_t>(axis), isLog)
                            : plainSoftmax<float>(call, wide, static_cast<size_t>(axis), isLog);
}

}  // namespace

Result<void> softmaxExpand(ExpandContext& context) { return expandSoftmax(context, false); }
Result<void> softmaxReference(ReferenceCall& call) { return softmaxReferenceOf(call, false); }

Result<void> logSoftmaxExpand(ExpandContext& context) { return expandSoftmax(context, true); }
Result<void> logSoftmaxReference(ReferenceCall& call) { return softmaxReferenceOf(call, true); }

}  // namespace baton::ops

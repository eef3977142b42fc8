// nn.softmax and nn.log_softmax.
#include <cmath>
#include <limits>

#include "compiler/ops/declarations.h"
#include "compiler/ops/expand.h"
#include "compiler/ops/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

Result<std::optional<StructureResult>> softmaxStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(normaliseAxis(call, "axis", SoftmaxAttrs{*call.attrs}.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

namespace {

ir::Attrs dtypeAttr(DType dtype) {
  ir::Attrs attrs;
  attrs.set("dtype", dtype);
  return attrs;
}

/// In terms of other operators, in the type of accumulation, rounded once at the end.
Result<void> expandSoftmax(ExpandContext& context, bool isLog) {
  const DType type = context.resultType();
  const DType wide = accumulationType(type);
  ir::Attrs along;
  along.set("axis", std::vector<int64_t>{SoftmaxAttrs{*context.call().attrs}.axis()});
  along.set("keepdims", true);
  TensorId data = context.input(0);
  if (wide != type) {
    BATON_TRY_ASSIGN(data, context.make("cast", dtypeAttr(wide), {data}));
  }
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
  if (wide != type) {
    BATON_TRY_ASSIGN(result, context.make("cast", dtypeAttr(type), {result}));
  }
  context.become({result});
  return success();
}

/// The numbers along the axis, in the type of accumulation.
template <class T, class F>
void forEachRow(ReferenceCall& call, DType wide, size_t axis, F&& f) {
  std::vector<int64_t> outer(call.inputs[0].shape.begin(), call.inputs[0].shape.end());
  const int64_t count = outer[axis];
  outer[axis] = 1;
  if (count == 0) return;
  forEachPosition(outer, [&](std::span<const int64_t> start) {
    std::vector<int64_t> at(start.begin(), start.end());
    std::vector<T> row;
    for (at[axis] = 0; at[axis] < count; ++at[axis])
      row.push_back(scalarFromBits<T>(convertScalar(call.load(0, at), call.inputs[0].dtype, wide)));
    f(row);
    for (at[axis] = 0; at[axis] < count; ++at[axis])
      call.store(0, at,
                 convertScalar(scalarBits(row[static_cast<size_t>(at[axis])]), wide, call.results[0].dtype));
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

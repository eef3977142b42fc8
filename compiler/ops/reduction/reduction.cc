// Operators that reduce some axes of a tensor.
#include "compiler/ops/reduction/reduction.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::vector<bool>> reducedAxes(const OpCall& call, int rank) {
  const ReductionAttrs attrs{*call.attrs};
  const std::vector<int64_t>* listed = attrs.axis();
  std::vector<bool> isReduced(static_cast<size_t>(rank), listed == nullptr);
  if (listed == nullptr) return isReduced;
  for (const int64_t axis : *listed) {
    BATON_TRY_ASSIGN(const int normal, normaliseAxis(call, "axis", axis, rank));
    if (isReduced[static_cast<size_t>(normal)])
      return opError(call, fmt::format("axis {} is listed twice", normal));
    isReduced[static_cast<size_t>(normal)] = true;
  }
  if (attrs.exclude()) isReduced.flip();
  return isReduced;
}

namespace {

/// Rank of the result; checks the axes.
Result<int> reducedRank(const OpCall& call, int rank) {
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, rank));
  int result = 0;
  for (const bool reduced : isReduced) result += !reduced || ReductionAttrs{*call.attrs}.keepdims() ? 1 : 0;
  return result;
}

}  // namespace

Result<std::optional<StructureResult>> reductionStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY_ASSIGN(const int resultRank, reducedRank(call, *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, resultRank);
}

Result<std::vector<TensorDims>> reductionDims(const OpCall& call, DimsContext& context) {
  const auto dims = context.dims(0);
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(dims.size())));
  TensorDims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!isReduced[axis])
      result.extents.push_back(dims[axis]);
    else if (ReductionAttrs{*call.attrs}.keepdims())
      result.extents.push_back(DimExpr::constant(1));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<std::optional<StructureResult>> argReductionStructure(const OpCall& call, StructureContext& context) {
  if (ArgReductionAttrs{*call.attrs}.selectLastIndex())
    return Error(ErrorCode::Unsupported,
                 fmt::format("{}: select_last_index is not supported", call.op->name));
  BATON_TRY(context.provideResultDType(0, DType::I32));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY_ASSIGN(const int resultRank, reducedRank(call, *rank));
  return oneResult(DType::I32, resultRank);
}

Result<std::vector<TensorDims>> argReductionDims(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> dims = copyDims(context, 0);
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(dims.size())));
  DimExpr count = DimExpr::constant(1);
  for (size_t axis = 0; axis < dims.size(); ++axis)
    if (isReduced[axis]) count = count * dims[axis];
  BATON_TRY(
      context.require(count, Relation::Ge, DimExpr::constant(1),
                      fmt::format("{}: there is nothing to choose from ({{0}} elements)", call.op->name)));
  BATON_TRY(context.require(count, Relation::Le, DimExpr::constant(INT32_MAX),
                            fmt::format("{}: {{0}} elements have more positions than int32", call.op->name)));
  return reductionDims(call, context);
}

std::optional<std::vector<DimExpr>> reductionValues(const OpCall& call, DimsContext& context,
                                                    const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  const DType dtype = context.dtype(0);
  const std::optional<size_t> count = valueCount(result);
  if (values == nullptr || values->empty() || !isInteger(dtype) || !count) return std::nullopt;
  const Result<std::vector<bool>> isReduced = reducedAxes(call, static_cast<int>(context.dims(0).size()));
  if (!isReduced) return std::nullopt;
  if (isReduced.assume_value().empty() || !isReduced.assume_value()[0]) return *values;
  DimExpr total = values->front();
  for (size_t i = 1; i < values->size(); ++i) {
    const DimExpr before = total;
    const DimExpr& next = (*values)[i];
    if (call.op->name == "sum")
      total = total + next;
    else if (call.op->name == "prod")
      total = total * next;
    else
      total = call.op->name == "max" ? max(total, next) : min(total, next);
    if (!(total == before) && !(total == next) && !fitsDType(context, total, dtype)) return std::nullopt;
  }
  return std::vector<DimExpr>{std::move(total)};
}

namespace {

using loop::ReduceOp;
using loop::Value;

/// What a reduction does with elements of a type.
ReduceOp reduceOpOf(std::string_view name, DType type) {
  const bool isBool = type == DType::Bool;
  if (name == "sum" || name == "mean") return isBool ? ReduceOp::Any : ReduceOp::Sum;
  if (name == "prod") return isBool ? ReduceOp::All : ReduceOp::Prod;
  if (name == "max") return isBool ? ReduceOp::Any : ReduceOp::Max;
  if (name == "min") return isBool ? ReduceOp::All : ReduceOp::Min;
  if (name == "all") return ReduceOp::All;
  if (name == "any") return ReduceOp::Any;
  return name == "argmax" ? ReduceOp::ArgMax : ReduceOp::ArgMin;
}

std::string emptyMeanMessage(const OpCall& call) {
  return fmt::format("{}: there are no elements", call.op->name);
}

/// The index of the data for an index of the result and the loop variables of the reduction.
template <class T>
std::vector<T> dataIndex(const std::vector<bool>& isReduced, bool keepsDims, std::span<const T> index,
                         std::span<const T> vars) {
  std::vector<T> out;
  size_t kept = 0;
  size_t reduced = 0;
  for (const bool reduces : isReduced) {
    out.push_back(reduces ? vars[reduced++] : index[kept]);
    if (!reduces || keepsDims) ++kept;
  }
  return out;
}

}  // namespace

Result<Value> reductionElement(ElementContext& context, std::span<const Value> index) {
  const OpCall& call = context.call();
  const auto dims = context.inputDims(0);
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call, static_cast<int>(dims.size())));
  std::vector<DimExpr> extents;
  DimExpr count = DimExpr::constant(1);
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (!isReduced[axis]) continue;
    extents.push_back(dims[axis]);
    count = count * dims[axis];
  }
  const bool isContiguous = !isReduced.empty() && isReduced.back();
  const ReduceOp op = reduceOpOf(call.op->name, context.inputType(0));
  BATON_TRY_ASSIGN(
      Value result,
      context.reduce(op, extents, isContiguous, index, [&](std::span<const Value> vars) -> Result<Value> {
        const std::vector<Value> at =
            dataIndex(isReduced, ReductionAttrs{*call.attrs}.keepdims(), index, vars);
        BATON_TRY_ASSIGN(const Value value, context.read(0, at));
        return widen(value);
      }));
  if (call.op->name == "mean") {
    const Value divisor = loop::cast(context.emitter().dim(count), result.type());
    result = isFloat(result.type())
                 ? result / divisor
                 : context.builder().divide(loop::Op::TruncDiv, result, divisor,
                                            context.builder().message(emptyMeanMessage(call)));
  }
  return loop::cast(result, context.wantedType());
}

namespace {

/// Whether `b` displaces `a` as the extreme: NaN before everything, +0 above -0.
template <class T>
bool isBetter(T a, T b, bool wantsGreater, bool ordersZeros) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
    if (ordersZeros && a == 0 && b == 0)
      return std::signbit(a) != std::signbit(b) && std::signbit(a) == wantsGreater;
  }
  return wantsGreater ? a < b : b < a;
}

template <class T>
uint64_t reduceValues(const OpCall& call, DType resultType, const std::vector<T>& values) {
  const std::string_view name = call.op->name;
  const auto in = [&](T value) {
    if constexpr (std::is_same_v<T, float>)
      return convertScalar(scalarBits(value), DType::F32, resultType);
    else
      return scalarBits(value);
  };
  if (name == "argmax" || name == "argmin") {
    size_t best = 0;
    for (size_t i = 1; i < values.size(); ++i)
      if (isBetter<T>(values[best], values[i], name == "argmax", false)) best = i;
    return scalarBits(static_cast<int32_t>(best));
  }
  if constexpr (std::is_same_v<T, bool>) {
    const bool isAll = name == "prod" || name == "min" || name == "all";
    const bool any = std::find(values.begin(), values.end(), !isAll) != values.end();
    return uint64_t{any != isAll};
  } else {
    if (name == "max" || name == "min") {
      const bool isMax = name == "max";
      T best = isMax ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
      if constexpr (std::is_floating_point_v<T>)
        best = isMax ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
      for (const T value : values)
        if (isBetter(best, value, isMax, true)) best = value;
      return in(best);
    }
    if constexpr (std::is_floating_point_v<T>) {
      if (name == "prod") return in(reduceInOrder(values, T{1}, [](T a, T b) { return a * b; }));
      const T sum = reduceInOrder(values, T{0}, [](T a, T b) { return a + b; });
      return in(name == "mean" ? sum / static_cast<T>(static_cast<int64_t>(values.size())) : sum);
    } else {
      uint64_t total = name == "prod" ? 1 : 0;
      for (const T value : values)
        total = name == "prod" ? total * static_cast<uint64_t>(value) : total + static_cast<uint64_t>(value);
      const T wrapped = static_cast<T>(total);
      // The count wraps as any integer; plainReduction has excluded a divisor of 0.
      return in(name == "mean" ? static_cast<T>(wrapped / static_cast<T>(values.size())) : wrapped);
    }
  }
}

}  // namespace

Result<void> reductionReference(ReferenceCall& call) {
  const auto shape = call.inputs[0].shape;
  const DType type = call.inputs[0].dtype;
  BATON_TRY_ASSIGN(const std::vector<bool> isReduced, reducedAxes(call.call, static_cast<int>(shape.size())));
  const bool keepsDims = ReductionAttrs{*call.call.attrs}.keepdims();
  std::vector<int64_t> reducedShape;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (isReduced[axis]) reducedShape.push_back(shape[axis]);
  bool fails = false;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    dispatchDType(accumulationType(type), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<T, BFloat16>) {
        std::vector<T> values;
        forEachPosition(reducedShape, [&](std::span<const int64_t> vars) {
          const std::vector<int64_t> at = dataIndex(isReduced, keepsDims, index, vars);
          values.push_back(scalarFromBits<T>(convertScalar(call.load(0, at), type, accumulationType(type))));
        });
        if (call.call.op->name == "mean" && !std::is_floating_point_v<T>) {
          const T divisor = static_cast<T>(values.size());
          T sum{};
          for (const T value : values)
            sum = static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(value));
          const bool overflows =
              std::is_signed_v<T> && divisor == static_cast<T>(-1) && sum == std::numeric_limits<T>::min();
          if (divisor == T{} || overflows) {
            fails = true;
            return;
          }
        }
        call.store(0, index, reduceValues<T>(call.call, call.results[0].dtype, values));
      }
    });
  });
  if (fails) return Error(ErrorCode::ProgramError, emptyMeanMessage(call.call));
  return success();
}

}  // namespace baton::ops

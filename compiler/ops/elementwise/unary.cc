// Operators on each element of one tensor.
#include <cmath>
#include <limits>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

using loop::Op;
using loop::Value;

Result<std::optional<StructureResult>> unaryStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

/// Of an operator with an attribute `axis`.
Result<std::optional<StructureResult>> alongAxisStructure(const OpCall& call, StructureContext& context) {
  if (const std::optional<int> rank = context.rank(0))
    BATON_TRY(normaliseAxis(call, "axis", call.attrs->intOf("axis"), *rank));
  return unaryStructure(call, context);
}

Result<std::optional<StructureResult>> predicateStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.provideResultDType(0, DType::Bool));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  return oneResult(DType::Bool, *rank);
}

Result<std::vector<TensorDims>> unaryDims(const OpCall&, DimsContext& context) {
  return std::vector<TensorDims>{{copyDims(context, 0)}};
}

std::optional<std::vector<DimExpr>> copyValues(const OpCall&, DimsContext& context,
                                               const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  if (values == nullptr || valueCount(result) != values->size()) return std::nullopt;
  return *values;
}

namespace {

Value onNumbers(const ScalarContext& context, std::span<const Value> inputs, Op op) {
  return computeWide(context, inputs,
                     [&](std::span<const Value> in) { return context.builder.unary(op, in[0]); });
}

/// Integers are whole already.
Value rounded(const ScalarContext& context, std::span<const Value> inputs, Op op) {
  return isFloat(context.resultType) ? onNumbers(context, inputs, op) : inputs[0];
}

/// `f` on floats, `g` on integers.
template <class F, class G>
uint64_t plain(const ScalarReferenceCall& call, std::span<const uint64_t> inputs, F&& f, G&& g) {
  return computeUnary(call.inputTypes[0], inputs, [&](auto x) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>)
      return f(x);
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return g(x);
    else
      return x;
  });
}

const auto kSame = [](auto x) { return x; };
/// Wraps: the least value stays as it is.
const auto kNegated = [](auto x) { return static_cast<decltype(x)>(uint64_t{0} - static_cast<uint64_t>(x)); };

Value transcendental(const ScalarContext& context, std::span<const Value> inputs, Value (*f)(Value)) {
  return computeWide(context, inputs, [&](std::span<const Value> in) { return f(in[0]); });
}

}  // namespace

Value copyScalar(const ScalarContext&, std::span<const Value> inputs) { return inputs[0]; }
Result<uint64_t> copyReference(const ScalarReferenceCall&, std::span<const uint64_t> inputs) {
  return inputs[0];
}

Value negativeScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onNumbers(context, inputs, Op::Neg);
}
Result<uint64_t> negativeReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return -x; }, kNegated);
}

Value absScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onNumbers(context, inputs, Op::Abs);
}
Result<uint64_t> absReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(
      call, inputs, [](auto x) { return std::fabs(x); },
      [](auto x) { return x < decltype(x){} ? kNegated(x) : x; });
}

Value signScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return computeWide(context, inputs, [&](std::span<const Value> in) {
    loop::Builder& b = context.builder;
    const Value x = in[0];
    const Value zero = b.constant(x.type(), 0.0);
    const Value positive = loop::select(x > zero, b.constant(x.type(), 1.0), zero);
    if (isUnsignedInt(x.type())) return positive;
    const Value sign = loop::select(x < zero, b.constant(x.type(), -1.0), positive);
    return isFloat(x.type()) ? loop::select(loop::notEqual(x, x), x, sign) : sign;
  });
}
Result<uint64_t> signReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  const auto sign = [](auto x) {
    return static_cast<decltype(x)>((x > decltype(x){}) - (x < decltype(x){}));
  };
  return plain(call, inputs, [&](auto x) { return std::isnan(x) ? x : sign(x); }, sign);
}

Value reluScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return computeWide(context, inputs, [&](std::span<const Value> in) {
    return loop::max(in[0], context.builder.constant(in[0].type(), 0.0));
  });
}
Result<uint64_t> reluReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  const auto relu = [](auto x) { return x < decltype(x){} ? decltype(x){} : x; };
  // Zeros of either sign give +0.
  return plain(call, inputs, [&](auto x) { return x == 0 ? decltype(x){} : relu(x); }, relu);
}

Value bitwiseNotScalar(const ScalarContext&, std::span<const Value> inputs) { return ~inputs[0]; }
Result<uint64_t> bitwiseNotReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  if (call.resultType == DType::Bool) return uint64_t{inputs[0] == 0};
  return plain(call, inputs, kSame, [](auto x) { return static_cast<decltype(x)>(~x); });
}

Value isnanScalar(const ScalarContext& context, std::span<const Value> inputs) {
  if (!isFloat(inputs[0].type())) return context.builder.boolean(false);
  const Value x = widen(inputs[0]);
  return loop::notEqual(x, x);
}
Result<uint64_t> isnanReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::isnan(x); }, [](auto) { return false; });
}

Value isinfScalar(const ScalarContext& context, std::span<const Value> inputs) {
  if (!isFloat(inputs[0].type())) return context.builder.boolean(false);
  const Value x = widen(inputs[0]);
  return loop::equal(loop::abs(x),
                     context.builder.constant(x.type(), std::numeric_limits<double>::infinity()));
}
Result<uint64_t> isinfReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::isinf(x); }, [](auto) { return false; });
}

Value isfiniteScalar(const ScalarContext& context, std::span<const Value> inputs) {
  if (!isFloat(inputs[0].type())) return context.builder.boolean(true);
  const Value x = widen(inputs[0]);
  return loop::abs(x) < context.builder.constant(x.type(), std::numeric_limits<double>::infinity());
}
Result<uint64_t> isfiniteReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::isfinite(x); }, [](auto) { return true; });
}

Value clipScalar(const ScalarContext& context, std::span<const Value> inputs) {
  const ClipAttrs attrs{*context.call.attrs};
  return computeWide(context, inputs, [&](std::span<const Value> in) {
    loop::Builder& b = context.builder;
    // In the type of the data first: the bounds of f16 are f16 numbers.
    const Value low = widen(b.constant(context.resultType, attrs.aMin()));
    const Value high = widen(b.constant(context.resultType, attrs.aMax()));
    return loop::min(loop::max(in[0], low), high);
  });
}
Result<uint64_t> clipReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  const ClipAttrs attrs{*call.call.attrs};
  const uint64_t low[] = {convertScalar(scalarBits(attrs.aMin()), DType::F64, call.resultType)};
  const uint64_t high[] = {convertScalar(scalarBits(attrs.aMax()), DType::F64, call.resultType)};
  const ScalarReferenceCall bounds{call.call, call.inputTypes, call.resultType};
  const uint64_t first[] = {inputs[0], low[0]};
  BATON_TRY_ASSIGN(const uint64_t raised, maximumReference(bounds, first));
  const uint64_t second[] = {raised, high[0]};
  return minimumReference(bounds, second);
}

Value floorScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return rounded(context, inputs, Op::Floor);
}
Result<uint64_t> floorReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::floor(x); }, kSame);
}

Value ceilScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return rounded(context, inputs, Op::Ceil);
}
Result<uint64_t> ceilReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::ceil(x); }, kSame);
}

Value truncScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return rounded(context, inputs, Op::Trunc);
}
Result<uint64_t> truncReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::trunc(x); }, kSame);
}

Value roundScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return rounded(context, inputs, Op::Round);
}
Result<uint64_t> roundReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::nearbyint(x); }, kSame);
}

Value sqrtScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return onNumbers(context, inputs, Op::Sqrt);
}
Result<uint64_t> sqrtReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return std::sqrt(x); }, kSame);
}

Value rsqrtScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return transcendental(context, inputs, &loop::rsqrt);
}
Result<uint64_t> rsqrtReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return math::rsqrt(x); }, kSame);
}

Value expScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return transcendental(context, inputs, &loop::exp);
}
Result<uint64_t> expReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return math::exp(x); }, kSame);
}

Value logScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return transcendental(context, inputs, &loop::log);
}
Result<uint64_t> logReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return math::log(x); }, kSame);
}

Value tanhScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return transcendental(context, inputs, &loop::tanh);
}
Result<uint64_t> tanhReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return math::tanh(x); }, kSame);
}

Value sigmoidScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return transcendental(context, inputs, &loop::sigmoid);
}
Result<uint64_t> sigmoidReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return math::sigmoid(x); }, kSame);
}

Value erfScalar(const ScalarContext& context, std::span<const Value> inputs) {
  return transcendental(context, inputs, &loop::erf);
}
Result<uint64_t> erfReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return plain(call, inputs, [](auto x) { return math::erf(x); }, kSame);
}

}  // namespace baton::ops

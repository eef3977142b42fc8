// fixed_point_multiply: products with numbers of 31 fractional bits.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

using loop::Value;

namespace {

/// In int64: shifted to the left by `left`, multiplied, shifted to the right by `right` + 1 with rounding.
struct FixedPoint {
  int64_t left;
  int64_t right;
};

FixedPoint fixedPointOf(int64_t shift) {
  constexpr int64_t kMost = 64;  // shifts by more give the same
  return {std::clamp<int64_t>(shift, 0, kMost), 30 - std::clamp<int64_t>(shift, -kMost, 0)};
}

}  // namespace

Result<std::optional<StructureResult>> fixedPointMultiplyStructure(const OpCall& call,
                                                                   StructureContext& context) {
  const int64_t multiplier = FixedPointMultiplyAttrs{*call.attrs}.multiplier();
  if (multiplier < INT32_MIN || multiplier > INT32_MAX)
    return opError(call, fmt::format("the multiplier is {}; expected an int32", multiplier));
  BATON_TRY(context.requireDType(0, DType::I32));
  return unaryStructure(call, context);
}

Value fixedPointMultiplyScalar(const ScalarContext& context, std::span<const Value> inputs) {
  const FixedPointMultiplyAttrs attrs{*context.call.attrs};
  const FixedPoint by = fixedPointOf(attrs.shift());
  loop::Builder& b = context.builder;
  const Value x = b.binary(loop::Op::Shl, loop::cast(inputs[0], DType::I64), b.i64(by.left));
  const Value product = b.binary(loop::Op::Shr, x * b.i64(attrs.multiplier()), b.i64(by.right));
  // Halves are rounded up, and what is added is in a place that is there.
  return loop::cast(b.binary(loop::Op::Shr, product + b.i64(1), b.i64(1)), DType::I32);
}
Result<uint64_t> fixedPointMultiplyReference(const ScalarReferenceCall& call,
                                             std::span<const uint64_t> inputs) {
  const FixedPointMultiplyAttrs attrs{*call.call.attrs};
  const FixedPoint by = fixedPointOf(attrs.shift());
  const uint64_t shifted = by.left >= 64 ? 0 : inputs[0] << by.left;
  const auto product = static_cast<int64_t>(shifted * static_cast<uint64_t>(attrs.multiplier()));
  const int64_t half = by.right >= 64 ? (product < 0 ? -1 : 0) : product >> by.right;
  return convertScalar(static_cast<uint64_t>((half + 1) >> 1), DType::I64, DType::I32);
}

}  // namespace baton::ops

// Scales and zero points: their relations, what they are written with, and the reference versions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

/// An input that is a scalar, or a vector along an axis of another: a scale or a zero point.
struct AxisVector {
  size_t input;
  size_t of;     ///< the input that it belongs to
  int64_t axis;  ///< of that, as the attribute says
};
/// That it has rank 0 or 1, and that the axis is one. False while that is not known.
Result<bool> checkAxisVector(const OpCall& call, StructureContext& context, const AxisVector& vector);
/// That a vector has as many elements as the axis.
Result<void> requireAxisVector(const OpCall& call, DimsContext& context, const AxisVector& vector);
/// An integer type of at most 32 bits.
Result<void> checkQuantisedType(const OpCall& call, DType dtype);

/// In programs: tensors of int64 and float64.
class FixedPointExpansion {
 public:
  explicit FixedPointExpansion(ExpandContext& context) : context_(context) {}

  Result<TensorId> apply(std::string_view op, const std::vector<TensorId>& inputs) {
    return context_.make(op, {}, inputs);
  }
  TensorId number(int64_t value) { return context_.scalar(DType::I64, static_cast<double>(value)); }
  /// A scale or a zero point in a type, so that it broadcasts to what it belongs to.
  Result<TensorId> along(const AxisVector& vector, DType dtype);
  /// Elements without their zero point.
  Result<TensorId> centred(TensorId data, const AxisVector& zeroPoint, DType dtype);
  /// x * ratio as an integer, in fixed point, rounded once and limited to 2^40; ratio in float64. `isWide`:
  /// x may be 2^32 or more.
  Result<TensorId> scaled(TensorId x, TensorId ratio, bool isUpward, bool isWide);
  /// Whether differences of elements of some tensors may be 2^32 or more.
  bool isWide(std::initializer_list<TensorId> tensors) const;
  /// Limited to a type of at most 32 bits, and cast to it.
  Result<TensorId> clipped(TensorId x, DType dtype);

 private:
  struct Ratio {
    TensorId multiplier;
    TensorId exponent;
  };
  Result<Ratio> taken(TensorId ratio);
  Result<TensorId> raised(TensorId x, TensorId count);
  Result<TensorId> quotient(TensorId x, TensorId m, TensorId less, TensorId left, TensorId right,
                            bool isWide);

  ExpandContext& context_;
};

/// The element of a scale or a zero point for an index of what it belongs to.
uint64_t vectorBits(const ReferenceCall& call, const AxisVector& vector, std::span<const int64_t> index);
double vectorScale(const ReferenceCall& call, const AxisVector& vector, std::span<const int64_t> index);
int64_t vectorZeroPoint(const ReferenceCall& call, const AxisVector& vector, std::span<const int64_t> index);
/// x * ratio in fixed point, limited to 2^40.
int64_t plainScaled(int64_t x, double ratio, bool isUpward);
/// Limited to a type, in 64-bit form.
uint64_t plainClipped(int64_t x, DType dtype);

}  // namespace baton::ops

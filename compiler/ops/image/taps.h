// Interpolation along axes, in loop IR: which elements a place between them is made of.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compiler/ops/lowering/lowering.h"

namespace baton::ops {

/// An element along an axis that takes part.
struct Tap {
  loop::Value position;                                ///< inside of the axis
  std::optional<loop::Value> weight = std::nullopt;    ///< of the type of the sum; none: 1, and no sum
  std::optional<loop::Value> isInside = std::nullopt;  ///< it counts as 0 where this is false
};
using Taps = std::vector<Tap>;

/// An axis of `in` elements that becomes `out`, seen from element `x` of the result.
struct ResizedAxis {
  loop::Value x;
  loop::Value in;
  loop::Value out;
};
/// The place as `coordinate_transformation_mode` of `image.resize2d` says, in float32. `start` and `end`
/// are of the roi, where it needs them.
loop::Value resizedPlace(Emitter& emitter, std::string_view mode, const ResizedAxis& axis,
                         std::optional<loop::Value> start, std::optional<loop::Value> end);
/// The nearest element, in exact arithmetic; not for `tf_crop_and_resize`.
loop::Value nearestElement(Emitter& emitter, std::string_view mode, std::string_view rounding,
                           const ResizedAxis& axis);
/// A place rounded likewise.
loop::Value roundedPlace(loop::Value place, std::string_view rounding);

/// floor of a place as an integer, within 2^32 around 0; NaN is 0.
loop::Value wholePart(loop::Value floored);
/// Into [0, extent).
loop::Value clampedPosition(Emitter& emitter, loop::Value position, loop::Value extent);

/// Weights are cast to `type`. Places outside take the nearest element.
Taps linearTaps(Emitter& emitter, loop::Value place, loop::Value extent, DType type);
Taps cubicTaps(Emitter& emitter, loop::Value place, loop::Value extent, DType type, double alpha,
               bool excludesOutside);
std::vector<loop::Value> cubicWeights(loop::Value t, double alpha);

/// The weighted sum over all axes of input 0, in `type`; the element itself where no tap has a weight.
Result<loop::Value> interpolated(CallContext& context, std::vector<loop::Value> at,
                                 std::span<const size_t> axes, std::span<const Taps> taps, DType type);

/// Whether it is before the first or behind the last element.
loop::Value isOutside(loop::Value place, loop::Value extent);

}  // namespace baton::ops

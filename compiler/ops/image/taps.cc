#include "compiler/ops/image/taps.h"

namespace baton::ops {

using loop::Value;

namespace {

Value number(Value like, double value) { return like.builder().constant(like.type(), value); }

/// Where all of these are known.
template <class Make>
auto hoisted(Emitter& emitter, std::initializer_list<Value> values, Make&& make) {
  return emitter.at(emitter.deepest(std::span(values.begin(), values.size())), make);
}

}  // namespace

Value resizedPlace(Emitter& emitter, std::string_view mode, const ResizedAxis& axis,
                   std::optional<Value> start, std::optional<Value> end) {
  const Value any = start.value_or(axis.x);
  return hoisted(emitter, {axis.x, axis.in, axis.out, any, end.value_or(any)}, [&]() -> Value {
    const Value x = loop::cast(axis.x, DType::F32);
    const Value in = loop::cast(axis.in, DType::F32);
    const Value out = loop::cast(axis.out, DType::F32);
    const Value last = in - number(in, 1);
    const Value others = loop::cast(emitter.sub(axis.out, emitter.number(1)), DType::F32);
    const Value isSeveral = axis.out > emitter.number(1);
    const Value zero = number(x, 0);
    const Value half = number(x, 0.5);
    if (mode == "asymmetric") return in / out * x;
    if (mode == "align_corners") return loop::select(isSeveral, last / others * x, zero);
    if (mode == "tf_half_pixel_for_nn") return (x + half) * (in / out);
    if (mode == "tf_crop_and_resize")
      return loop::select(isSeveral, *start * last + x * (*end - *start) * last / others,
                          half * (*start + *end) * last);
    const Value place = (x + half) * (in / out) - half;
    return mode == "pytorch_half_pixel" ? loop::select(isSeveral, place, zero) : place;
  });
}

Value nearestElement(Emitter& emitter, std::string_view mode, std::string_view rounding,
                     const ResizedAxis& axis) {
  const auto times = [&](int64_t factor, Value value) { return emitter.mul(emitter.number(factor), value); };
  const Value one = emitter.number(1);
  const Value zero = emitter.number(0);
  // The place is above / below.
  Value above = emitter.mul(axis.x, axis.in);
  Value below = axis.out;
  if (mode == "align_corners") {
    above = emitter.mul(axis.x, emitter.sub(axis.in, one));
    below = emitter.max(emitter.sub(axis.out, one), one);
  } else if (mode != "asymmetric") {
    above = emitter.mul(emitter.add(times(2, axis.x), one), axis.in);
    below = times(2, axis.out);
    if (mode != "tf_half_pixel_for_nn") above = emitter.sub(above, axis.out);
    if (mode == "pytorch_half_pixel") {
      const Value given = above;
      above = hoisted(emitter, {given, axis.out}, [&] { return loop::select(axis.out > one, given, zero); });
    }
  }
  Value position;
  if (rounding == "floor") {
    position = emitter.floorDiv(above, below);
  } else if (rounding == "ceil") {
    position = emitter.sub(zero, emitter.floorDiv(emitter.sub(zero, above), below));
  } else if (rounding == "round_prefer_floor") {
    position = emitter.sub(zero, emitter.floorDiv(emitter.sub(below, times(2, above)), times(2, below)));
  } else {
    position = emitter.floorDiv(emitter.add(times(2, above), below), times(2, below));
  }
  return clampedPosition(emitter, position, axis.in);
}

Value roundedPlace(Value place, std::string_view rounding) {
  const Value floored = loop::floor(place);
  if (rounding == "floor") return floored;
  if (rounding == "ceil") return loop::ceil(place);
  const Value half = number(place, 0.5);
  const Value isUp = rounding == "round_prefer_floor" ? place - floored > half : place - floored >= half;
  return loop::select(isUp, floored + number(place, 1), floored);
}

Value wholePart(Value floored) {
  const Value bound = number(floored, 4294967296.0);
  return loop::cast(loop::max(loop::min(floored, bound), -bound), DType::I64);
}

Value clampedPosition(Emitter& emitter, Value position, Value extent) {
  return emitter.max(emitter.min(position, emitter.sub(extent, emitter.number(1))), emitter.number(0));
}

Value isOutside(Value place, Value extent) {
  return (place < number(place, 0)) | (place > loop::cast(extent, place.type()) - number(place, 1));
}

Taps linearTaps(Emitter& emitter, Value place, Value extent, DType type) {
  return hoisted(emitter, {place, extent}, [&] {
    const Value floored = loop::floor(place);
    const Value t = place - floored;
    const Value whole = wholePart(floored);
    Taps taps;
    for (int64_t i = 0; i < 2; ++i) {
      const Value weight = i == 0 ? number(t, 1) - t : t;
      taps.push_back({clampedPosition(emitter, emitter.add(whole, emitter.number(i)), extent),
                      loop::cast(weight, type)});
    }
    return taps;
  });
}

std::vector<Value> cubicWeights(Value t, double alpha) {
  const auto c = [&](double value) { return number(t, value); };
  const Value t2 = t * t;
  const Value t3 = t2 * t;
  return {c(alpha) * (t3 - c(2) * t2 + t), c(alpha + 2) * t3 - c(alpha + 3) * t2 + c(1),
          c(2 * alpha + 3) * t2 - c(alpha + 2) * t3 - c(alpha) * t, c(alpha) * t2 - c(alpha) * t3};
}

Taps cubicTaps(Emitter& emitter, Value place, Value extent, DType type, double alpha, bool excludesOutside) {
  return hoisted(emitter, {place, extent}, [&] {
    const Value floored = loop::floor(place);
    std::vector<Value> weights = cubicWeights(place - floored, alpha);
    const Value whole = wholePart(floored);
    Taps taps;
    Value sum;
    for (int64_t i = 0; i < 4; ++i) {
      const Value wanted = emitter.add(whole, emitter.number(i - 1));
      const Value position = clampedPosition(emitter, wanted, extent);
      Value& weight = weights[static_cast<size_t>(i)];
      if (excludesOutside) {
        weight = loop::select(loop::equal(wanted, position), weight, number(weight, 0));
        sum = i == 0 ? weight : sum + weight;
      }
      taps.push_back({position});
    }
    for (size_t i = 0; i < 4; ++i)
      taps[i].weight = loop::cast(excludesOutside ? weights[i] / sum : weights[i], type);
    return taps;
  });
}

Result<Value> interpolated(CallContext& context, std::vector<Value> at, std::span<const size_t> axes,
                           std::span<const Taps> taps, DType type) {
  if (axes.empty()) {
    BATON_TRY_ASSIGN(const Value element, context.read(0, at));
    return loop::cast(element, type);
  }
  std::optional<Value> sum;
  for (const Tap& tap : taps[0]) {
    at[axes[0]] = tap.position;
    BATON_TRY_ASSIGN(Value value, interpolated(context, at, axes.subspan(1), taps.subspan(1), type));
    if (tap.isInside) value = loop::select(*tap.isInside, value, number(value, 0));
    if (tap.weight) value = value * *tap.weight;
    sum = sum ? *sum + value : value;
  }
  return *sum;
}

}  // namespace baton::ops

#include "compiler/ops/image/plain_taps.h"

#include <algorithm>
#include <cmath>

namespace baton::ops {

namespace {

__extension__ using Wide = __int128;

int64_t floorOf(Wide above, Wide below) {
  return static_cast<int64_t>(above / below - (above % below < 0 ? 1 : 0));
}

}  // namespace

float plainPlace(std::string_view mode, const PlainAxis& axis, float start, float end) {
  const auto x = static_cast<float>(axis.x);
  const auto in = static_cast<float>(axis.in);
  const auto out = static_cast<float>(axis.out);
  const float last = in - 1;
  const auto others = static_cast<float>(axis.out - 1);
  const bool isOne = axis.out == 1;
  if (mode == "asymmetric") return in / out * x;
  if (mode == "align_corners") return isOne ? 0 : last / others * x;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5F) * (in / out);
  if (mode == "tf_crop_and_resize")
    return isOne ? 0.5F * (start + end) * last : start * last + x * (end - start) * last / others;
  if (mode == "pytorch_half_pixel" && isOne) return 0;
  return (x + 0.5F) * (in / out) - 0.5F;
}

int64_t plainNearest(std::string_view mode, std::string_view rounding, const PlainAxis& axis) {
  const Wide x = axis.x;
  Wide above = x * axis.in;
  Wide below = axis.out;
  if (mode == "align_corners") {
    above = x * (axis.in - 1);
    below = std::max<int64_t>(axis.out - 1, 1);
  } else if (mode == "tf_half_pixel_for_nn") {
    above = (2 * x + 1) * axis.in;
    below = 2 * Wide{axis.out};
  } else if (mode != "asymmetric") {
    above = (2 * x + 1) * axis.in - axis.out;
    below = 2 * Wide{axis.out};
    if (mode == "pytorch_half_pixel" && axis.out == 1) above = 0;
  }
  int64_t position = floorOf(2 * above + below, 2 * below);
  if (rounding == "floor") position = floorOf(above, below);
  if (rounding == "ceil") position = -floorOf(-above, below);
  if (rounding == "round_prefer_floor") position = -floorOf(below - 2 * above, 2 * below);
  return plainClamped(position, axis.in);
}

double plainRounded(double place, std::string_view rounding) {
  const double floored = std::floor(place);
  if (rounding == "floor") return floored;
  if (rounding == "ceil") return std::ceil(place);
  const bool isUp = rounding == "round_prefer_floor" ? place - floored > 0.5 : place - floored >= 0.5;
  return isUp ? floored + 1 : floored;
}

int64_t plainWhole(double floored) {
  constexpr double kBound = 4294967296.0;
  return std::isnan(floored) ? 0 : static_cast<int64_t>(std::clamp(floored, -kBound, kBound));
}

int64_t plainClamped(int64_t position, int64_t extent) {
  return std::max<int64_t>(std::min(position, extent - 1), 0);
}

PlainTaps plainLinear(float place, int64_t extent) {
  const float floored = std::floor(place);
  const float t = place - floored;
  const int64_t whole = plainWhole(floored);
  return {{plainClamped(whole, extent), 1 - t}, {plainClamped(whole + 1, extent), t}};
}

PlainTaps plainCubic(float place, int64_t extent, double alpha, bool excludesOutside) {
  const float floored = std::floor(place);
  const int64_t whole = plainWhole(floored);
  std::vector<float> weights = plainCubicWeights<float>(place - floored, alpha);
  PlainTaps taps;
  float sum = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t wanted = whole + i - 1;
    float& weight = weights[static_cast<size_t>(i)];
    if (excludesOutside && (wanted < 0 || wanted >= extent)) weight = 0;
    sum = i == 0 ? weight : sum + weight;
    taps.push_back({plainClamped(wanted, extent)});
  }
  for (size_t i = 0; i < 4; ++i) taps[i].weight = excludesOutside ? weights[i] / sum : weights[i];
  return taps;
}

uint64_t plainInterpolated(const ReferenceCall& call, std::vector<int64_t> at, std::span<const size_t> axes,
                           std::span<const PlainTaps> taps) {
  const DType type = blendType(call.inputs[0].dtype);
  const uint64_t bits = type == DType::F64 ? scalarBits(plainBlended<double>(call, at, axes, taps, type))
                                           : scalarBits(plainBlended<float>(call, at, axes, taps, type));
  return convertScalar(bits, type, call.results[0].dtype);
}

}  // namespace baton::ops

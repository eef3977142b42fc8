// Interpolation along axes on numbers, for the reference versions.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ops/reference_call.h"

namespace baton::ops {

/// A place is a float32 or a float64; either fits a double.
struct PlainTap {
  int64_t position = 0;
  double weight = 1;
  bool isInside = true;
};
using PlainTaps = std::vector<PlainTap>;

struct PlainAxis {
  int64_t x = 0;
  int64_t in = 0;
  int64_t out = 0;
};
float plainPlace(std::string_view mode, const PlainAxis& axis, float start, float end);
int64_t plainNearest(std::string_view mode, std::string_view rounding, const PlainAxis& axis);
double plainRounded(double place, std::string_view rounding);
int64_t plainWhole(double floored);
int64_t plainClamped(int64_t position, int64_t extent);
PlainTaps plainLinear(float place, int64_t extent);
PlainTaps plainCubic(float place, int64_t extent, double alpha, bool excludesOutside);
template <class C>
std::vector<C> plainCubicWeights(C t, double alpha) {
  const C a = static_cast<C>(alpha);
  const C a2 = static_cast<C>(alpha + 2);
  const C t2 = t * t;
  const C t3 = t2 * t;
  return {a * (t3 - C{2} * t2 + t), a2 * t3 - static_cast<C>(alpha + 3) * t2 + C{1},
          static_cast<C>(2 * alpha + 3) * t2 - a2 * t3 - a * t, a * t2 - a * t3};
}

/// What sums of a type are held in here: integers, too, in float32.
constexpr DType blendType(DType data) { return data == DType::F64 ? DType::F64 : DType::F32; }

/// The weighted sum of elements of the first input, each converted to `type`, which is that of T.
template <class T>
T plainBlended(const ReferenceCall& call, std::vector<int64_t> at, std::span<const size_t> axes,
               std::span<const PlainTaps> taps, DType type) {
  if (axes.empty()) return scalarFromBits<T>(convertScalar(call.load(0, at), call.inputs[0].dtype, type));
  T sum{};
  for (size_t i = 0; i < taps[0].size(); ++i) {
    const PlainTap& tap = taps[0][i];
    at[axes[0]] = tap.position;
    const T value = tap.isInside ? plainBlended<T>(call, at, axes.subspan(1), taps.subspan(1), type) : T{0};
    const T term = value * static_cast<T>(tap.weight);
    sum = i == 0 ? term : sum + term;
  }
  return sum;
}

/// The same, rounded once to the type of the result.
uint64_t plainInterpolated(const ReferenceCall& call, std::vector<int64_t> at, std::span<const size_t> axes,
                           std::span<const PlainTaps> taps);

}  // namespace baton::ops

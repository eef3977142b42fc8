// Boxes on numbers, for the reference versions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "compiler/ops/reference_call.h"

namespace baton::ops {

template <class T>
using PlainCorners = std::array<T, 4>;

/// a where they are equal or one is NaN, so that every version says the same of NaN.
template <class T>
T plainLesser(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T plainGreater(T a, T b) {
  return a < b ? b : a;
}

/// IEEE 754-2019 maximum.
template <class T>
T plainMaximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return std::max(a, b);
}

/// Of boxes whose corners are in any order; 0 where they cover nothing.
template <class T>
T plainOverlap(const PlainCorners<T>& a, const PlainCorners<T>& b) {
  T shared = 1;
  T areaA = 1;
  T areaB = 1;
  for (const size_t axis : {1, 0}) {
    const T lowA = plainLesser(a[axis], a[axis + 2]);
    const T highA = plainGreater(a[axis], a[axis + 2]);
    const T lowB = plainLesser(b[axis], b[axis + 2]);
    const T highB = plainGreater(b[axis], b[axis + 2]);
    shared *= plainGreater(T{0}, plainLesser(highA, highB) - plainGreater(lowA, lowB));
    areaA *= highA - lowA;
    areaB *= highB - lowB;
  }
  const T covered = areaA + areaB - shared;
  return covered <= 0 ? T{0} : shared / covered;
}

/// Indices from the greatest score down: NaN first, equal ones in order.
template <class T>
std::vector<size_t> plainByScore(const std::vector<T>& scores) {
  std::vector<size_t> order(scores.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return std::isnan(scores[a]) ? !std::isnan(scores[b]) : scores[a] > scores[b];
  });
  return order;
}

/// An element of an input as the type that is computed in.
template <class T>
T plainElement(const ReferenceCall& call, size_t input, int64_t linear) {
  const DType wide = sizeof(T) == 8 ? DType::F64 : DType::F32;
  return scalarFromBits<T>(convertScalar(call.load(input, linear), call.inputs[input].dtype, wide));
}
template <class T>
PlainCorners<T> plainCorners(const ReferenceCall& call, size_t input, int64_t first) {
  PlainCorners<T> out;
  for (size_t i = 0; i < 4; ++i) out[i] = plainElement<T>(call, input, first + static_cast<int64_t>(i));
  return out;
}
template <class T>
void plainStore(const ReferenceCall& call, size_t result, int64_t linear, T value) {
  const DType from = std::is_same_v<T, int64_t> ? DType::I64 : sizeof(T) == 8 ? DType::F64 : DType::F32;
  call.store(result, linear, convertScalar(scalarBits(value), from, call.results[result].dtype));
}

}  // namespace baton::ops

// The maximum of the numeric contract, for reference versions.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace baton::ops {

/// NaN wins, and -0 is below 0; of nothing the lowest value.
template <class T>
T greatest(const std::vector<T>& elements) {
  T best = std::numeric_limits<T>::lowest();
  if constexpr (std::is_floating_point_v<T>) best = -std::numeric_limits<T>::infinity();
  for (const T x : elements) {
    bool isBetter = best < x;
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return x;
      isBetter |= best == x && std::signbit(best) && !std::signbit(x);
    }
    if (isBetter) best = x;
  }
  return best;
}

}  // namespace baton::ops

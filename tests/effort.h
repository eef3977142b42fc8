// How much a test does. Under sanitizers it does less: what they look for shows in every turn.
#pragma once

namespace baton {

#ifdef BATON_COARSE_SWEEPS
inline constexpr bool kIsCoarse = true;
#else
inline constexpr bool kIsCoarse = false;
#endif

/// `usual`, or `coarse` under sanitizers.
template <class T>
constexpr T effort(T usual, T coarse) {
  return kIsCoarse ? coarse : usual;
}

}  // namespace baton

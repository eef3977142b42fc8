// How many vector instructions a function of kernels/loop/math is, at least: the same definitions
// over an arithmetic that counts.
#pragma once

#include <cstdint>

#include "kernels/loop/math/transcendental.h"

namespace baton::benchmarks {

struct OperationCount {
  double operations = 0;  ///< divisions and roots too
  double divisions = 0;
};

namespace counting {

inline thread_local OperationCount count;

struct Number {};
struct Condition {};

inline Number counted(double operations = 1) {
  count.operations += operations;
  return {};
}
inline Number operator+(Number, Number) { return counted(); }
inline Number operator-(Number, Number) { return counted(); }
inline Number operator*(Number, Number) { return counted(); }
inline Number operator&(Number, Number) { return counted(); }
inline Number operator|(Number, Number) { return counted(); }
inline Number operator/(Number, Number) {
  ++count.divisions;
  return counted();
}
// With the selection that follows it is often one instruction, a minimum; so it counts as none.
inline Condition operator<(Number, Number) { return {}; }

struct Arithmetic {
  using F = Number;
  using U = Number;
  using B = Condition;
  using Format = math::Binary32;
  static constexpr int kWidth = 32;

  F number(double) const { return {}; }
  U integer(uint64_t) const { return {}; }
  F fma(F, F, F) const { return counted(); }
  F abs(F) const { return counted(); }
  F copySign(F, F) const { return counted(2); }
  B isNan(F) const { return {}; }
  F select(B, F, F) const { return counted(); }
  U bits(F) const { return {}; }
  F fromBits(U) const { return {}; }
  U shiftLeft(U, int) const { return counted(); }
  U shiftRightSigned(U, int) const { return counted(); }
};

}  // namespace counting

/// `f(arithmetic, x)` calls one of the functions.
template <class F>
OperationCount countOperations(F f) {
  counting::count = {};
  f(counting::Arithmetic(), counting::Number());
  return counting::count;
}

}  // namespace baton::benchmarks

#include "kernels/loop/math/plain.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/loop/math/transcendental.h"

namespace baton::math {

namespace {

template <class T>
struct Plain {
  using F = T;
  using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  using S = std::make_signed_t<U>;
  using B = bool;
  using Format = std::conditional_t<sizeof(T) == 4, Binary32, Binary64>;
  static constexpr int kWidth = sizeof(T) * 8;

  F number(double value) const { return static_cast<T>(value); }
  U integer(uint64_t value) const { return static_cast<U>(value); }
  F fma(F x, F y, F z) const { return std::fma(x, y, z); }
  F abs(F x) const { return std::fabs(x); }
  F sqrt(F x) const { return std::sqrt(x); }
  // The sign of a NaN counts as positive, as everywhere in loop IR.
  F copySign(F magnitude, F sign) const { return std::copysign(magnitude, isNan(sign) ? F{0} : sign); }
  B isNan(F x) const { return x != x; }
  F select(B condition, F x, F y) const { return condition ? x : y; }
  U bits(F x) const { return std::bit_cast<U>(isNan(x) ? std::numeric_limits<F>::quiet_NaN() : x); }
  F fromBits(U x) const { return std::bit_cast<F>(x); }
  F signedToFloat(U x) const { return static_cast<F>(static_cast<S>(x)); }
  U shiftLeft(U x, int count) const { return x << count; }
  U shiftRightSigned(U x, int count) const { return static_cast<U>(static_cast<S>(x) >> count); }
};

}  // namespace

float exp(float x) { return exp(Plain<float>(), x); }
double exp(double x) { return exp(Plain<double>(), x); }
float log(float x) { return log(Plain<float>(), x); }
double log(double x) { return log(Plain<double>(), x); }
float tanh(float x) { return tanh(Plain<float>(), x); }
double tanh(double x) { return tanh(Plain<double>(), x); }
float sigmoid(float x) { return sigmoid(Plain<float>(), x); }
double sigmoid(double x) { return sigmoid(Plain<double>(), x); }
float erf(float x) { return erf(Plain<float>(), x); }
double erf(double x) { return erf(Plain<double>(), x); }
float rsqrt(float x) { return rsqrt(Plain<float>(), x); }
double rsqrt(double x) { return rsqrt(Plain<double>(), x); }

}  // namespace baton::math

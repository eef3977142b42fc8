#include "kernels/loop/math/plain.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/loop/math/transcendental.h"
#include "kernels/loop/math/wide.h"

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
  F trunc(F x) const { return std::trunc(x); }
  B equal(F x, F y) const { return x == y; }
  U selectInteger(B condition, U x, U y) const { return condition ? x : y; }
  B below(U x, U y) const { return x < y; }
  B equalInteger(U x, U y) const { return x == y; }
  U shiftLeft(U x, int count) const { return x << count; }
  U shiftRight(U x, int count) const { return x >> count; }
  U shiftRightBy(U x, U count) const { return count < kWidth ? x >> count : 0; }
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

float sin(float x) { return static_cast<float>(sin(Plain<double>(), x)); }
double sin(double x) { return sin(Plain<double>(), x); }
float cos(float x) { return static_cast<float>(cos(Plain<double>(), x)); }
double cos(double x) { return cos(Plain<double>(), x); }
float tan(float x) { return static_cast<float>(tan(Plain<double>(), x)); }
double tan(double x) { return tan(Plain<double>(), x); }
float asin(float x) { return static_cast<float>(asin(Plain<double>(), x)); }
double asin(double x) { return asin(Plain<double>(), x); }
float acos(float x) { return static_cast<float>(acos(Plain<double>(), x)); }
double acos(double x) { return acos(Plain<double>(), x); }
float atan(float x) { return static_cast<float>(atan(Plain<double>(), x)); }
double atan(double x) { return atan(Plain<double>(), x); }
float sinh(float x) { return static_cast<float>(sinh(Plain<double>(), x)); }
double sinh(double x) { return sinh(Plain<double>(), x); }
float cosh(float x) { return static_cast<float>(cosh(Plain<double>(), x)); }
double cosh(double x) { return cosh(Plain<double>(), x); }
float asinh(float x) { return static_cast<float>(asinh(Plain<double>(), x)); }
double asinh(double x) { return asinh(Plain<double>(), x); }
float acosh(float x) { return static_cast<float>(acosh(Plain<double>(), x)); }
double acosh(double x) { return acosh(Plain<double>(), x); }
float atanh(float x) { return static_cast<float>(atanh(Plain<double>(), x)); }
double atanh(double x) { return atanh(Plain<double>(), x); }
float log2(float x) { return static_cast<float>(log2(Plain<double>(), x)); }
double log2(double x) { return log2(Plain<double>(), x); }
float log10(float x) { return static_cast<float>(log10(Plain<double>(), x)); }
double log10(double x) { return log10(Plain<double>(), x); }
float pow(float x, float y) { return static_cast<float>(pow(Plain<double>(), x, y)); }
double pow(double x, double y) { return pow(Plain<double>(), x, y); }

}  // namespace baton::math

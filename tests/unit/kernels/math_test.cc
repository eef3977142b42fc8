// How far the transcendentals are from the true values, in units in the last place.
#include "kernels/loop/math/plain.h"
#include "tests/effort.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>

namespace baton {
namespace {

constexpr double kLimitUlp = 4.0;

/// Distance of `value` from `exact` in ulps of T at `exact` (denormals have the smallest ulp).
template <class T>
double ulps(T value, long double exact) {
  if (std::isnan(exact)) return std::isnan(value) ? 0 : INFINITY;
  constexpr int kDigits = std::numeric_limits<T>::digits;
  constexpr int kLowest = std::numeric_limits<T>::min_exponent;
  int exponent = 0;
  std::frexp(exact, &exponent);
  if (exact == 0 || exponent < kLowest) exponent = kLowest;
  const long double ulp = std::ldexp(1.0L, exponent - kDigits);
  if (std::isinf(value)) {
    if (std::isinf(exact)) return (value > 0) == (exact > 0) ? 0 : INFINITY;
    // The next representable magnitude after the largest stands for infinity.
    const long double beyond = std::ldexp(1.0L, std::numeric_limits<T>::max_exponent);
    const long double distance = value > 0 ? beyond - exact : exact + beyond;
    return distance <= 0 ? 0 : static_cast<double>(distance / ulp);
  }
  if (std::isinf(exact)) return INFINITY;
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact) / ulp);
}

struct Function {
  const char* name;
  float (*narrow)(float);
  double (*wide)(double);
  long double (*exact)(long double);
};

long double exactSigmoid(long double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

const Function kFunctions[] = {
    {"exp", math::exp, math::exp, [](long double x) { return std::exp(x); }},
    {"log", math::log, math::log, [](long double x) { return x < 0 ? std::nanl("") : std::log(x); }},
    {"tanh", math::tanh, math::tanh, [](long double x) { return std::tanh(x); }},
    {"sigmoid", math::sigmoid, math::sigmoid, exactSigmoid},
    {"erf", math::erf, math::erf, [](long double x) { return std::erf(x); }},
    {"rsqrt", math::rsqrt, math::rsqrt, [](long double x) { return 1 / std::sqrt(x); }},
    {"sin", math::sin, math::sin, [](long double x) { return std::sin(x); }},
    {"cos", math::cos, math::cos, [](long double x) { return std::cos(x); }},
    {"tan", math::tan, math::tan, [](long double x) { return std::tan(x); }},
    {"asin", math::asin, math::asin, [](long double x) { return std::asin(x); }},
    {"acos", math::acos, math::acos, [](long double x) { return std::acos(x); }},
    {"atan", math::atan, math::atan, [](long double x) { return std::atan(x); }},
    {"sinh", math::sinh, math::sinh, [](long double x) { return std::sinh(x); }},
    {"cosh", math::cosh, math::cosh, [](long double x) { return std::cosh(x); }},
    {"asinh", math::asinh, math::asinh, [](long double x) { return std::asinh(x); }},
    {"acosh", math::acosh, math::acosh, [](long double x) { return std::acosh(x); }},
    {"atanh", math::atanh, math::atanh, [](long double x) { return std::atanh(x); }},
    {"log2", math::log2, math::log2, [](long double x) { return x < 0 ? std::nanl("") : std::log2(x); }},
    {"log10", math::log10, math::log10, [](long double x) { return x < 0 ? std::nanl("") : std::log10(x); }},
};

constexpr uint64_t kStep = effort<uint64_t>(997, 99991);
constexpr int kRandomDoubles = effort(200000, 5000);

// states: `exp log tanh sigmoid erf rsqrt` are polynomials of our own, within 4 units in the last place, the
// same everywhere.
TEST_CASE("transcendentals: every thousandth float and all special ranges are within 4 ulp") {
  for (const Function& function : kFunctions) {
    double worst = 0;
    float worstAt = 0;
    const auto tryBits = [&](uint32_t bits) {
      const float x = std::bit_cast<float>(bits);
      const double error = ulps(function.narrow(x), function.exact(x));
      if (error > worst || std::isnan(error)) {
        worst = error;
        worstAt = x;
      }
    };
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += kStep) tryBits(static_cast<uint32_t>(bits));
    // Around zero, the limits of the denormals, 1, the places where algorithms switch, infinity.
    for (const float center :
         {0.0f, 1.1754944e-38f, 1.0f, 0.70710678f, 1.4142135f, 0.34657359f, 4.0f, 9.0f, 10.0f, 87.33655f,
          88.0f, 88.72284f, 89.0f, 103.27893f, 103.97208f, 105.0f, std::numeric_limits<float>::infinity()})
      for (int sign = 0; sign < 2; ++sign)
        for (int64_t step = -2000; step <= 2000; ++step) {
          const int64_t bits = int64_t{std::bit_cast<uint32_t>(center)} + step;
          if (bits >= 0 && bits < 0x7FFFFFFF)
            tryBits(static_cast<uint32_t>(bits) | (sign ? 0x80000000u : 0u));
        }
    INFO(function.name << " f32: worst " << worst << " ulp at " << worstAt);
    CHECK(worst <= kLimitUlp);
    if (std::getenv("BATON_SHOW_ULP") != nullptr)
      WARN(function.name << " f32: " << worst << " at " << worstAt);
  }
}

TEST_CASE("transcendentals: random doubles are within 4 ulp") {
  std::mt19937_64 random(20240607);
  for (const Function& function : kFunctions) {
    double worst = 0;
    double worstAt = 0;
    // Arguments of the periodic ones are reduced as documented.
    const bool isPeriodic = std::string_view("sin cos tan").find(function.name) != std::string_view::npos;
    const auto tryValue = [&](double x) {
      if (isPeriodic && std::fabs(x) >= 0x1p48) return;
      // 80-bit arithmetic carries 11 bits more than the result.
      const double error = ulps(function.wide(x), function.exact(x));
      if (error > worst || std::isnan(error)) {
        worst = error;
        worstAt = x;
      }
    };
    std::uniform_real_distribution<double> near(-8, 8);
    std::uniform_real_distribution<double> middle(-760, 760);
    for (int i = 0; i < kRandomDoubles; ++i) {
      tryValue(std::bit_cast<double>(random()));
      tryValue(near(random));
      tryValue(middle(random));
    }
    for (const double center :
         {0.0, 1.0, 2.2250738585072014e-308, 708.39, 709.78271289338397, 745.13321910194122, 20.0, 6.0})
      for (int sign = -1; sign <= 1; sign += 2)
        for (int64_t step = 0; step <= 1000; ++step)
          tryValue(sign * std::bit_cast<double>(std::bit_cast<int64_t>(center) + step));
    INFO(function.name << " f64: worst " << worst << " ulp at " << worstAt);
    CHECK(worst <= kLimitUlp);
    if (std::getenv("BATON_SHOW_ULP") != nullptr)
      WARN(function.name << " f64: " << worst << " at " << worstAt);
  }
}

TEST_CASE("transcendentals: powers are within 4 ulp") {
  std::mt19937_64 random(7);
  double worst = 0;
  double worstWide = 0;
  std::string worstAt;
  for (int i = 0; i < 400000; ++i) {
    // Bases and exponents of every size, most of them with results in range.
    const double x =
        std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, static_cast<int>(random() % 61) - 30);
    const double y =
        std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5, static_cast<int>(random() % 12));
    worst = std::max(worst, ulps(math::pow(static_cast<float>(x), static_cast<float>(y)),
                                 std::pow(static_cast<long double>(static_cast<float>(x)),
                                          static_cast<long double>(static_cast<float>(y)))));
    const double wide =
        ulps(math::pow(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y)));
    if (wide > worstWide) worstAt = std::to_string(x) + " ^ " + std::to_string(y);
    worstWide = std::max(worstWide, wide);
  }
  INFO(worstAt);
  CHECK(worst <= 1);
  CHECK(worstWide <= kLimitUlp);
  if (std::getenv("BATON_SHOW_ULP") != nullptr)
    WARN("pow f32: " << worst << ", f64: " << worstWide << " at " << worstAt);
}

TEST_CASE("transcendentals: powers of special operands are those of C") {
  const double values[] = {0.0,
                           -0.0,
                           1,
                           -1,
                           2,
                           -2,
                           3,
                           -3,
                           0.5,
                           -0.5,
                           2.5,
                           -2.5,
                           1e300,
                           -1e300,
                           1e-310,
                           -1e-310,
                           4503599627370497.0,
                           -4503599627370497.0,
                           INFINITY,
                           -INFINITY,
                           NAN};
  for (const double x : values)
    for (const double y : values) {
      const double expected = std::pow(x, y);
      const double found = math::pow(x, y);
      INFO(x << " ^ " << y << ": " << found << ", expected " << expected);
      if (std::isnan(expected)) {
        CHECK(std::isnan(found));
      } else {
        CHECK(found == Approx(expected));
        CHECK(std::signbit(found) == std::signbit(expected));
      }
    }
}

template <class T>
void checkSpecialValues() {
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  CHECK(math::exp(inf) == inf);
  CHECK(math::exp(-inf) == 0);
  CHECK(math::exp(T{0}) == 1);
  CHECK(std::isnan(math::exp(nan)));
  CHECK(math::log(inf) == inf);
  CHECK(math::log(T{0}) == -inf);
  CHECK(math::log(T{-0.0}) == -inf);
  CHECK(math::log(T{1}) == 0);
  CHECK(std::isnan(math::log(T{-1})));
  CHECK(std::isnan(math::log(-inf)));
  CHECK(std::isnan(math::log(nan)));
  CHECK(math::tanh(inf) == 1);
  CHECK(math::tanh(-inf) == -1);
  CHECK(math::tanh(T{0}) == 0);
  CHECK(std::signbit(math::tanh(T{-0.0})));
  CHECK(std::isnan(math::tanh(nan)));
  CHECK(math::sigmoid(inf) == 1);
  CHECK(math::sigmoid(-inf) == 0);
  CHECK(math::sigmoid(T{0}) == T{0.5});
  CHECK(std::isnan(math::sigmoid(nan)));
  CHECK(math::erf(inf) == 1);
  CHECK(math::erf(-inf) == -1);
  CHECK(std::signbit(math::erf(T{-0.0})));
  CHECK(std::isnan(math::erf(nan)));
  CHECK(math::rsqrt(T{4}) == T{0.5});
  CHECK(math::rsqrt(T{0}) == inf);
  CHECK(math::rsqrt(T{-0.0}) == -inf);
  CHECK(math::rsqrt(inf) == 0);
  CHECK(std::isnan(math::rsqrt(T{-1})));
  CHECK(std::signbit(math::sin(T{-0.0})));
  CHECK(math::cos(T{0}) == 1);
  for (const T x : {inf, -inf, nan}) {
    CHECK(std::isnan(math::sin(x)));
    CHECK(std::isnan(math::cos(x)));
    CHECK(std::isnan(math::tan(x)));
  }
  CHECK(std::signbit(math::tan(T{-0.0})));
  CHECK(std::signbit(math::atan(T{-0.0})));
  CHECK(math::atan(inf) == static_cast<T>(1.5707963267948966));
  CHECK(std::isnan(math::atan(nan)));
  CHECK(std::isnan(math::asin(T{1.5})));
  CHECK(std::isnan(math::acos(T{-1.5})));
  CHECK(math::acos(T{1}) == 0);
  CHECK(math::sinh(-inf) == -inf);
  CHECK(math::cosh(-inf) == inf);
  CHECK(math::asinh(-inf) == -inf);
  CHECK(math::acosh(inf) == inf);
  CHECK(math::acosh(T{1}) == 0);
  CHECK(std::isnan(math::acosh(T{0.5})));
  CHECK(math::atanh(T{1}) == inf);
  CHECK(math::atanh(T{-1}) == -inf);
  CHECK(std::isnan(math::atanh(T{2})));
  CHECK(math::log2(T{8}) == 3);
  CHECK(math::log2(T{0}) == -inf);
  CHECK(math::log10(T{1000}) == 3);
  CHECK(std::isnan(math::log10(T{-1})));
}

TEST_CASE("transcendentals: special values") {
  checkSpecialValues<float>();
  checkSpecialValues<double>();
}

}  // namespace
}  // namespace baton

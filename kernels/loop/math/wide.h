// More transcendental functions, over an arithmetic on binary64 (see transcendental.h). In
// binary32 they are computed in binary64 and rounded once, which leaves half an ulp of error.
#pragma once

#include "kernels/loop/math/transcendental.h"

namespace baton::math {

inline constexpr double kHalfPi = 1.570796326794896558;
inline constexpr double kHalfPiLow = 6.1232339957367660359e-17;
inline constexpr double kHalfPiLowest = -1.4973849050658729883e-33;

// ---- trigonometry

/// x = n pi/2 + r, |r| <= pi/4 or a little more.
template <class A>
struct Quadrant {
  typename A::U n;  ///< modulo 4, in the low bits
  typename A::F r;
};

/// Of finite |x| >= 2^48, of which only the first 24 bits count: enough for every binary32.
/// The product of those bits and the bits of 2/pi that are worth less than 4 (Payne and Hanek).
template <class A>
Quadrant<A> largeQuadrant(const A& a, typename A::F magnitude) {
  static constexpr uint64_t kTwoOverPi[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0,
                                            0xDB629599, 0x3C439041, 0xFE5163AB};
  const auto bits = a.bits(magnitude);
  const auto mantissa =
      (a.shiftRight(bits, 29) & a.integer(0x7FFFFF)) | a.integer(0x800000);  // x = mantissa 2^(exponent)
  // The first wanted bit of 2/pi, counted from 0: that of weight 2 after the shift by the exponent.
  const auto first = a.shiftRight(bits, 52) - a.integer(1023 + 23 + 2);
  const auto word = a.shiftRight(first, 5);
  const auto shift = first & a.integer(31);
  const auto pick = [&](size_t offset) {
    auto value = a.integer(kTwoOverPi[3 + offset]);
    for (uint64_t candidate = 3; candidate-- > 0;)
      value = a.selectInteger(a.below(word, a.integer(candidate + 1)),
                              a.integer(kTwoOverPi[candidate + offset]), value);
    return value;
  };
  const auto w0 = pick(0);
  const auto w1 = pick(1);
  const auto w2 = pick(2);
  const auto w3 = pick(3);
  const auto low32 = a.integer(0xFFFFFFFF);
  const auto joined = [&](typename A::U high, typename A::U low) {
    return a.shiftRightBy(a.shiftLeft(high, 32) | low, a.integer(32) - shift) & low32;
  };
  const auto p0 = mantissa * joined(w0, w1);
  const auto p1 = mantissa * joined(w1, w2);
  const auto p2 = mantissa * joined(w2, w3);
  // Two bits of quadrant, 62 of fraction.
  const auto product = a.shiftLeft(p0, 32) + p1 + a.shiftRight(p2, 32);
  const auto n = a.shiftRight(product + a.integer(uint64_t{1} << 61), 62);
  const auto fraction = a.signedToFloat(product - a.shiftLeft(n, 62));
  return {n, fraction * a.number(kHalfPi * 0x1p-62)};
}

template <class A>
Quadrant<A> quadrant(const A& a, typename A::F x) {
  using Format = typename A::Format;
  const auto shifted = a.fma(x, a.number(0.6366197723675813430755351), a.number(Format::kRoundingMagic));
  const auto minusN = a.number(Format::kRoundingMagic) - shifted;
  // The first difference is exact: a multiple of 2^-53 below 1.
  const auto r0 = a.fma(minusN, a.number(kHalfPi), x);
  const auto r1 = a.fma(minusN, a.number(kHalfPiLow), r0);
  const auto r = a.fma(minusN, a.number(kHalfPiLowest), r1);
  const auto magnitude = a.abs(x);
  const Quadrant<A> large = largeQuadrant(a, magnitude);
  const auto isSmall = magnitude < a.number(0x1p48);
  const auto isNegative = x < a.number(0.0);
  const auto zero = a.integer(0);
  const auto signedN = a.selectInteger(isNegative, zero - large.n, large.n);
  const auto signedR = a.select(isNegative, a.number(0.0) - large.r, large.r);
  return {a.selectInteger(isSmall, a.bits(shifted), signedN), a.select(isSmall, r, signedR)};
}

template <class A>
struct SineCosine {
  typename A::F sine;
  typename A::F cosine;
};
/// For |r| <= pi/4.
template <class A>
SineCosine<A> sineCosine(const A& a, typename A::F r) {
  static constexpr std::array kSine = {-0.1666666666666666664,    0.0083333333333333224584,
                                       -0.0001984126984125474222, 2.7557319214033237191e-6,
                                       -2.5052104873140570929e-8, 1.6058361998423012534e-10,
                                       -7.5784798957408592145e-13};
  static constexpr std::array kCosine = {0.041666666666666666609,   -0.0013888888888888872918,
                                         0.00002480158730157048217, -2.7557319214968324992e-7,
                                         2.0876754279750546321e-9,  -1.1470283988987340536e-11,
                                         4.7377114200621624237e-14};
  const auto z = r * r;
  const auto sine = a.fma(r * z, polynomial(a, z, kSine), r);
  const auto half = a.number(0.5) * z;
  const auto one = a.number(1.0);
  const auto head = one - half;
  // What the rounding of 1 - z/2 lost comes back with the rest.
  const auto cosine = head + (((one - head) - half) + z * z * polynomial(a, z, kCosine));
  return {sine, cosine};
}

/// NaN where x is infinite or NaN.
template <class A>
typename A::F whereFinite(const A& a, typename A::F x, typename A::F value) {
  const auto infinity = a.number(A::Format::kInfinity);
  return a.select(a.abs(x) < infinity, value, infinity - infinity);
}

/// sin(x + turn pi/2)
template <class A>
typename A::F turnedSine(const A& a, typename A::F x, uint64_t turn) {
  const Quadrant<A> q = quadrant(a, x);
  const SineCosine<A> at = sineCosine(a, q.r);
  const auto n = q.n + a.integer(turn);
  const auto zero = a.integer(0);
  const auto value = a.select(a.equalInteger(n & a.integer(1), zero), at.sine, at.cosine);
  const auto isPositive = a.equalInteger(n & a.integer(2), zero);
  return whereFinite(a, x, a.select(isPositive, value, a.number(0.0) - value));
}

template <class A>
typename A::F sin(const A& a, typename A::F x) {
  return a.select(a.abs(x) < a.number(1e-9), x, turnedSine(a, x, 0));  // keeps -0
}

template <class A>
typename A::F cos(const A& a, typename A::F x) {
  return turnedSine(a, x, 1);
}

template <class A>
typename A::F tan(const A& a, typename A::F x) {
  const Quadrant<A> q = quadrant(a, x);
  const SineCosine<A> at = sineCosine(a, q.r);
  const auto isEven = a.equalInteger(q.n & a.integer(1), a.integer(0));
  const auto over = a.select(isEven, at.sine, a.number(0.0) - at.cosine);
  const auto under = a.select(isEven, at.cosine, at.sine);
  return a.select(a.abs(x) < a.number(1e-9), x, whereFinite(a, x, over / under));
}

template <class A>
typename A::F atan(const A& a, typename A::F x) {
  static constexpr std::array kAtan = {
      -0.33333333333333333082,  0.19999999999999883457,  -0.1428571428569536119,   0.11111111109561199226,
      -0.090909090159022479232, 0.07692305354190904574,  -0.066666172692663243741, 0.058816243561992513591,
      -0.052555464634530077158, 0.047054985386193302639, -0.040547125052500781588, 0.029603048966991643706,
      -0.012972120830620947838};
  const auto magnitude = a.abs(x);
  const auto one = a.number(1.0);
  const auto isFar = one < magnitude;
  const auto t = a.select(isFar, one / magnitude, magnitude);
  // Beyond tan(pi/8), turned by pi/4.
  const auto isMiddle = a.number(0.41421356237309503) < t;
  const auto u = a.select(isMiddle, (t - one) / (t + one), t);
  const auto z = u * u;
  const auto small = a.fma(u * z, polynomial(a, z, kAtan), u);
  const auto zero = a.number(0.0);
  const auto quarter = a.select(isMiddle, a.number(kHalfPi / 2), zero);
  const auto quarterLow = a.select(isMiddle, a.number(kHalfPiLow / 2), zero);
  const auto near = quarter + (small + quarterLow);
  const auto far = a.number(kHalfPi) - (near - a.number(kHalfPiLow));
  return a.select(a.isNan(x), x, a.copySign(a.select(isFar, far, near), x));
}

/// asin(y) - y over y, in z = y^2 <= 1/4.
template <class A>
typename A::F asinTail(const A& a, typename A::F z) {
  static constexpr std::array kAsin = {
      0.16666666666666761021,  0.074999999999706336142,  0.044642857174778836729, 0.030381942699389566915,
      0.022372215234352283136, 0.017351607408471192191,  0.013980877737504329402, 0.011398428699103030581,
      0.010783047478143796748, 0.0036955421092737733627, 0.021734622993257126651, -0.021038539378621678614,
      0.032653935520574897483};
  return z * polynomial(a, z, kAsin);
}

template <class A>
typename A::F asin(const A& a, typename A::F x) {
  const auto magnitude = a.abs(x);
  const auto isNear = magnitude < a.number(0.5);
  // asin y = pi/2 - 2 asin sqrt((1 - y) / 2)
  const auto farSquare = (a.number(1.0) - magnitude) * a.number(0.5);
  const auto z = a.select(isNear, magnitude * magnitude, farSquare);
  const auto base = a.select(isNear, magnitude, a.sqrt(farSquare));
  const auto value = a.fma(base, asinTail(a, z), base);
  const auto far = a.number(kHalfPi) - (value + value - a.number(kHalfPiLow));
  return a.copySign(a.select(isNear, value, far), x);
}

template <class A>
typename A::F acos(const A& a, typename A::F x) {
  const auto magnitude = a.abs(x);
  const auto isNear = magnitude < a.number(0.5);
  const auto farSquare = (a.number(1.0) - magnitude) * a.number(0.5);
  const auto z = a.select(isNear, x * x, farSquare);
  const auto base = a.select(isNear, x, a.sqrt(farSquare));
  const auto value = a.fma(base, asinTail(a, z), base);
  const auto near = a.number(kHalfPi) - (value - a.number(kHalfPiLow));
  const auto twice = value + value;
  const auto left = a.number(2 * kHalfPi) - (twice - a.number(2 * kHalfPiLow));
  return a.select(isNear, near, a.select(x < a.number(0.0), left, twice));
}

// ---- hyperbolic functions

template <class A>
typename A::F sinh(const A& a, typename A::F x) {
  const auto magnitude = a.abs(x);
  const auto high = a.number(709.0);
  const auto isFar = high < magnitude;
  const auto t = expm1(a, a.select(isFar, high, magnitude));
  const auto near = a.number(0.5) * (t + t / (t + a.number(1.0)));
  const auto root = exp(a, a.number(0.5) * magnitude);  // its square may overflow where the result does
  return a.copySign(a.select(isFar, a.number(0.5) * root * root, near), x);
}

template <class A>
typename A::F cosh(const A& a, typename A::F x) {
  const auto magnitude = a.abs(x);
  const auto high = a.number(709.0);
  const auto isFar = high < magnitude;
  const auto power = exp(a, a.select(isFar, high, magnitude));
  const auto half = a.number(0.5);
  const auto root = exp(a, half * magnitude);
  return a.select(isFar, half * root * root, half * power + half / power);
}

/// log(1 + u) for u >= 0; NaN below -1.
template <class A>
typename A::F log1p(const A& a, typename A::F u) {
  const auto one = a.number(1.0);
  const auto w = one + u;
  const auto lost = (u - (w - one)) / w;
  return log(a, w) + a.select(u < a.number(A::Format::kInfinity), lost, a.number(0.0));
}

inline constexpr double kLn2 = 0.69314718055994530942;
inline constexpr double kFarForSquares = 0x1p28;  // from here on 1 + x^2 is x^2

template <class A>
typename A::F asinh(const A& a, typename A::F x) {
  const auto y = a.abs(x);
  const auto one = a.number(1.0);
  const auto square = y * y;
  const auto near = log1p(a, y + square / (one + a.sqrt(one + square)));
  const auto far = log(a, y) + a.number(kLn2);
  return a.copySign(a.select(a.number(kFarForSquares) < y, far, near), x);
}

template <class A>
typename A::F acosh(const A& a, typename A::F x) {
  const auto t = x - a.number(1.0);
  const auto near = log1p(a, t + a.sqrt(t + t + t * t));
  const auto far = log(a, x) + a.number(kLn2);
  const auto infinity = a.number(A::Format::kInfinity);
  return a.select(t < a.number(0.0), infinity - infinity, a.select(a.number(kFarForSquares) < x, far, near));
}

template <class A>
typename A::F atanh(const A& a, typename A::F x) {
  const auto y = a.abs(x);
  return a.copySign(a.number(0.5) * log1p(a, (y + y) / (a.number(1.0) - y)), x);
}

// ---- logarithms to other bases, powers

template <class A>
typename A::F log2(const A& a, typename A::F x) {
  const ReducedLog<A> l = reduceLog(a, x);
  const auto natural = l.f - (l.halfSquare - l.correction);
  return finishLog(a, x, a.fma(natural, a.number(1.4426950408889634074), l.e));
}

template <class A>
typename A::F log10(const A& a, typename A::F x) {
  const ReducedLog<A> l = reduceLog(a, x);
  const auto natural = l.f - (l.halfSquare - l.correction);
  const auto low =
      a.fma(natural, a.number(0.4342944819032518276511), l.e * a.number(-2.803728127785170339e-18));
  return finishLog(a, x, a.fma(l.e, a.number(0.30102999566398119802), low));
}

/// A number as an unevaluated sum.
template <class A>
struct Pair {
  typename A::F high;
  typename A::F low;
};

/// log(x) of a positive number, to about 2^-64 of its value.
template <class A>
Pair<A> logPair(const A& a, typename A::F x) {
  using Format = typename A::Format;
  static constexpr std::array kTail = {0.3999999999999997744,  0.28571428571445152163, 0.2222222221752484582,
                                       0.18181818871923839973, 0.15384556750902729707, 0.13336322361425926436,
                                       0.11674712891153667403, 0.11989928517320861205};
  const ReducedLog<A> l = reduceLog(a, x);
  const auto zero = a.number(0.0);
  // log(1 + f) = 2s + (2/3) s z + s z^2 P(z), s = f / (2 + f), z = s^2, all but the tail in pairs.
  const auto d = a.number(2.0) + l.f;
  const auto dLow = l.f - (d - a.number(2.0));
  const auto s = l.f / d;
  const auto sLow = (a.fma(zero - s, d, l.f) - s * dLow) / d;
  const auto z = s * s;
  const auto zLow = a.fma(s, s, zero - z) + (s + s) * sLow;
  const auto twoThirds = a.number(0.66666666666666662966);
  const auto c = z * twoThirds;
  const auto cLow = a.fma(z, twoThirds, zero - c) + z * a.number(3.7007434154171884681e-17) +
                    zLow * twoThirds + z * z * polynomial(a, z, kTail);
  const auto b = c * s;
  const auto bLow = a.fma(c, s, zero - b) + c * sLow + cLow * s;
  const auto twice = s + s;
  const auto high = twice + b;
  const auto low = (twice - high) + b + (sLow + sLow + bLow);
  const auto exponentPart = l.e * a.number(Format::kLn2High);  // exact
  const auto sum = exponentPart + high;
  return {sum, (exponentPart - sum) + high + (low + l.e * a.number(Format::kLn2Low))};
}

/// C's pow: pow(x, 0) and pow(1, y) are 1, NaN for a negative base and a broken exponent.
template <class A>
typename A::F pow(const A& a, typename A::F x, typename A::F y) {
  const auto zero = a.number(0.0);
  const auto one = a.number(1.0);
  const auto infinity = a.number(A::Format::kInfinity);
  const auto nan = infinity - infinity;
  const auto base = a.abs(x);
  const Pair<A> l = logPair(a, base);
  const auto t = y * l.high;
  const auto bounded = clampForExp(a, t);
  const auto isBounded = a.equal(t, bounded);
  const auto tail = a.select(isBounded, a.fma(y, l.high, zero - t) + y * l.low, zero);
  auto value = scaleExp(a, reduceExp(a, bounded, &tail));

  // A base of zero or infinity, by the sign of the exponent.
  const auto isRising = zero < y;
  value = a.select(a.equal(base, zero), a.select(isRising, zero, infinity), value);
  value = a.select(a.equal(base, infinity), a.select(isRising, infinity, zero), value);
  // Negative bases: whole exponents only, of which the odd ones keep the sign.
  const auto half = y * a.number(0.5);
  const auto isWhole = a.equal(a.trunc(y), y);
  const auto isEven = a.equal(a.trunc(half), half);
  const auto isMinus = a.copySign(one, x) < zero;
  const auto negated = a.select(isWhole, a.select(isEven, value, a.copySign(value, a.number(-1.0))), value);
  value = a.select(isMinus, negated, value);
  const auto isFiniteMinus = a.select(x < zero, base, infinity) < infinity;
  value = a.select(isFiniteMinus, a.select(isWhole, value, nan), value);
  value = a.select(a.isNan(x), x, a.select(a.isNan(y), y, value));
  // 1 to any power, minus 1 to an infinite one, anything to none.
  const auto isUnit = a.equal(a.select(a.equal(a.abs(y), infinity), base, x), one);
  return a.select(a.equal(y, zero), one, a.select(isUnit, one, value));
}

}  // namespace baton::math

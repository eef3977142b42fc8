// The transcendental functions, each defined once, over an arithmetic `A` that says what a
// number is: a float or double (plain.h), or an expression of loop IR (expand.cc). All
// branches are selects, so lanes of a vector and a lone scalar compute the same bits.
//
// An arithmetic has types F (float), U (unsigned integer of the same width) and B (condition),
// the operators + - * / and < on F, + - * & | on U, and the functions used below. Errors are at
// most 4 ulp (math_test.cc measures them). Polynomials are minimax fits of our own. What is
// here exists in both precisions; wide.h has the functions that always compute in binary64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace baton::math {

/// What the algorithms need to know of binary32.
struct Binary32 {
  static constexpr int kMantissaBits = 23;
  static constexpr uint64_t kExponentBias = 127;
  static constexpr double kRoundingMagic = 12582912.0;  // 1.5 * 2^23: adding it rounds to an integer
  static constexpr double kLn2High = 0.693145751953125;
  static constexpr double kLn2Low = 1.4286068203094172321e-6;
  static constexpr double kExpLow = -105.0;  // exp is 0 below and infinite above
  static constexpr double kExpHigh = 89.0;
  static constexpr double kTanhHigh = 10.0;  // tanh and erf are 1 from here on
  static constexpr double kErfHigh = 4.0;
  static constexpr double kMinNormal = 1.1754943508222875e-38;
  static constexpr double kDenormalScale = 8388608.0;  // 2^23
  static constexpr double kDenormalExponent = 23.0;
  static constexpr uint64_t kSqrtHalfBits = 0x3F3504F3;
  static constexpr uint64_t kMantissaMask = 0x7FFFFF;
  static constexpr double kInfinity = __builtin_inf();
  /// (expm1(r) - r) / r^2 on |r| <= ln 2 / 2
  static constexpr std::array kExpm1 = {0.49999998131439367541, 0.16666543455392697827,
                                        0.041667203866826974839, 0.0083665466152083997644,
                                        0.0013882390071514571115};
  /// erf(sqrt z) / sqrt z on [0, 1]
  static constexpr std::array kErf = {1.1283791670581100951,     -0.37612638435247934368,
                                      0.1128378198076799818,     -0.026865400315652405361,
                                      0.0052209459395214127865,  -0.0008482833103632551639,
                                      0.00011256960228019762819, -9.6415073148875669567e-6};
};

/// The same of binary64.
struct Binary64 {
  static constexpr int kMantissaBits = 52;
  static constexpr uint64_t kExponentBias = 1023;
  static constexpr double kRoundingMagic = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr double kLn2High = 0.6931471803691238164901733;
  static constexpr double kLn2Low = 1.908214929270587816144266e-10;
  static constexpr double kExpLow = -746.0;
  static constexpr double kExpHigh = 710.0;
  static constexpr double kTanhHigh = 20.0;
  static constexpr double kErfHigh = 6.0;
  static constexpr double kMinNormal = 2.2250738585072014e-308;
  static constexpr double kDenormalScale = 4503599627370496.0;  // 2^52
  static constexpr double kDenormalExponent = 52.0;
  static constexpr uint64_t kSqrtHalfBits = 0x3FE6A09E667F3BCD;
  static constexpr uint64_t kMantissaMask = 0xFFFFFFFFFFFFF;
  static constexpr double kInfinity = __builtin_inf();
  static constexpr std::array kExpm1 = {0.50000000000000051999,     0.16666666666666588948,
                                        0.04166666666657646775,     0.0083333333333897448364,
                                        0.0013888888931667181655,   0.00019841269718686374047,
                                        0.000024801505142623077296, 2.7557407708102480407e-6,
                                        2.7626092854404871686e-7,   2.5053768591819014669e-8};
  static constexpr std::array kErf = {
      1.1283791670955125738,     -0.37612638903183747615,     0.11283791670954857915,
      -0.026866170645072959249,  0.0052239776247813697943,    -0.00085483269787651488163,
      0.00012055331037551108097, -0.000014925593518728226688, 1.646097295415376567e-6,
      -1.6350026192077268531e-7, 1.4657883530919653519e-8,    -1.1365670671827159274e-9,
      5.9452555842234874355e-11};
};

/// c[0] + c[1] x + ..., by Horner's rule with fma.
template <class A, size_t N>
typename A::F polynomial(const A& a, typename A::F x, const std::array<double, N>& c) {
  typename A::F sum = a.number(c[N - 1]);
  for (size_t i = N - 1; i-- > 0;) sum = a.fma(sum, x, a.number(c[i]));
  return sum;
}

/// exp(x) = 2^n (1 + q), with q = expm1 of what is left of x.
template <class A>
struct ReducedExp {
  typename A::U n;  ///< two's complement, in the low bits; the others are rubbish
  typename A::F q;
};

/// Of x, or of x + *tail where the tail is far below x.
template <class A>
ReducedExp<A> reduceExp(const A& a, typename A::F x, const typename A::F* tail = nullptr) {
  using Format = typename A::Format;
  const auto shifted = a.fma(x, a.number(1.4426950408889634074), a.number(Format::kRoundingMagic));
  const auto n = shifted - a.number(Format::kRoundingMagic);
  const auto minusN = a.number(0.0) - n;
  auto r = a.fma(minusN, a.number(Format::kLn2Low), a.fma(minusN, a.number(Format::kLn2High), x));
  if (tail != nullptr) r = r + *tail;
  const auto q = a.fma(r * r, polynomial(a, r, Format::kExpm1), r);
  // The integer sits in the low bits of the shifted sum, below the bits of the magic number.
  return {a.bits(shifted), q};
}

/// x where it is between the ends beyond which exp is 0 or infinite, else the end.
template <class A>
typename A::F clampForExp(const A& a, typename A::F x) {
  using Format = typename A::Format;
  const auto below = a.select(x < a.number(Format::kExpLow), a.number(Format::kExpLow), x);
  return a.select(a.number(Format::kExpHigh) < below, a.number(Format::kExpHigh), below);
}

/// 2^n (1 + q)
template <class A>
typename A::F scaleExp(const A& a, const ReducedExp<A>& e) {
  using Format = typename A::Format;
  // 2^n in two halves, of which neither overflows nor is denormal; only the second product rounds.
  const int m = Format::kMantissaBits;
  const auto half =
      a.shiftRightSigned(a.shiftLeft(e.n, a.kWidth - 16), a.kWidth - 15);  // low 16 bits of n, halved
  const auto rest = e.n - half;
  const auto bias = a.integer(Format::kExponentBias);
  const auto first = a.fromBits(a.shiftLeft(half + bias, m));
  const auto second = a.fromBits(a.shiftLeft(rest + bias, m));
  return a.fma(first, e.q, first) * second;
}

template <class A>
typename A::F exp(const A& a, typename A::F x) {
  return scaleExp(a, reduceExp(a, clampForExp(a, x)));
}

/// log(x) = e ln 2 + f - (halfSquare - correction), x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt 2).
template <class A>
struct ReducedLog {
  typename A::F e;
  typename A::F f;
  typename A::F halfSquare;
  typename A::F correction;
};

template <class A>
ReducedLog<A> reduceLog(const A& a, typename A::F x) {
  using Format = typename A::Format;
  const auto tiny = x < a.number(Format::kMinNormal);
  const auto scaled = a.select(tiny, x * a.number(Format::kDenormalScale), x);
  const auto offset = a.bits(scaled) - a.integer(Format::kSqrtHalfBits);
  const auto exponent = a.signedToFloat(a.shiftRightSigned(offset, Format::kMantissaBits));
  const auto e = a.select(tiny, exponent - a.number(Format::kDenormalExponent), exponent);
  const auto f = a.fromBits((offset & a.integer(Format::kMantissaMask)) + a.integer(Format::kSqrtHalfBits)) -
                 a.number(1.0);
  const auto halfSquare = a.number(0.5) * f * f;
  auto correction = f;
  if constexpr (Format::kMantissaBits == 23) {
    // log(1 + f) = f - f^2/2 + f^3 P(f)
    static constexpr std::array kLog = {
        0.33333331706702271291, -0.25000820994147352776, 0.20001227021754813083, -0.16623358254839162961,
        0.14201753916205153693, -0.13160172537582603412, 0.12761606709076624086, -0.076345564259236178341};
    correction = f * f * f * polynomial(a, f, kLog);
  } else {
    // log(1 + f) = 2 atanh(s), s = f / (2 + f): f - f^2/2 + s (f^2/2 + s^2 P(s^2))
    static constexpr std::array kLog = {
        0.66666666666667346185, 0.39999999999413020516, 0.28571428742829188793, 0.22222198519957943239,
        0.18183567504641945101, 0.15313959002111683125, 0.14796963283613876061};
    const auto s = f / (f + a.number(2.0));
    const auto z = s * s;
    correction = s * a.fma(z, polynomial(a, z, kLog), halfSquare);
  }
  return {e, f, halfSquare, correction};
}

/// The value of a logarithm, where it is one: outside (0, inf) what it is there.
template <class A>
typename A::F finishLog(const A& a, typename A::F x, typename A::F value) {
  const auto infinity = a.number(A::Format::kInfinity);
  const auto inside = a.select(x < infinity, value, x);
  const auto atZero = a.select(a.number(0.0) < x, inside, a.number(0.0) - infinity);
  const auto nan = infinity - infinity;
  return a.select(x < a.number(0.0), nan, a.select(a.isNan(x), x, atZero));
}

template <class A>
typename A::F log(const A& a, typename A::F x) {
  using Format = typename A::Format;
  const ReducedLog<A> l = reduceLog(a, x);
  const auto low = a.fma(l.e, a.number(Format::kLn2Low), l.correction);
  return finishLog(a, x, a.fma(l.e, a.number(Format::kLn2High), l.f - (l.halfSquare - low)));
}

/// exp(x) - 1 for 0 <= x below the end where exp overflows.
template <class A>
typename A::F expm1(const A& a, typename A::F x) {
  using Format = typename A::Format;
  const ReducedExp<A> e = reduceExp(a, x);
  const auto power = a.fromBits(a.shiftLeft(e.n + a.integer(Format::kExponentBias), Format::kMantissaBits));
  return a.fma(power, e.q, power - a.number(1.0));
}

template <class A>
typename A::F tanh(const A& a, typename A::F x) {
  using Format = typename A::Format;
  // tanh y = t / (t + 2), t = expm1(2 y), y = |x|
  const auto magnitude = a.abs(x);
  const auto high = a.number(Format::kTanhHigh);
  const auto y = a.select(high < magnitude, high, magnitude);
  const auto t = expm1(a, y + y);
  return a.copySign(t / (t + a.number(2.0)), x);
}

template <class A>
typename A::F sigmoid(const A& a, typename A::F x) {
  // exp(-|x|) cannot overflow, and keeps the denormal results at the far left.
  const auto e = exp(a, a.number(0.0) - a.abs(x));
  return a.select(x < a.number(0.0), e, a.number(1.0)) / (e + a.number(1.0));
}

template <class A>
typename A::F erf(const A& a, typename A::F x) {
  using Format = typename A::Format;
  const auto magnitude = a.abs(x);
  const auto high = a.number(Format::kErfHigh);
  const auto y = a.select(high < magnitude, high, magnitude);
  const auto square = y * y;
  const auto near = y * polynomial(a, square, Format::kErf);
  auto complement = y;
  if constexpr (Format::kMantissaBits == 23) {
    // log erfc on [1, 4]
    static constexpr std::array kLogErfc = {0.00018846386276211759971, -1.1295802941757468623,
                                            -0.63321642856287562923,   -0.10842206797831903403,
                                            0.025210321271415567256,   -0.0042052784063282710038,
                                            0.00044147146586632045751, -0.000021697521165467524316};
    complement = exp(a, polynomial(a, y, kLogErfc));
  } else {
    // erfc(y) exp(y^2) on [1, 6], in u = 1 / (1 + y/2) - 0.45
    static constexpr std::array kErfcx = {
        0.21501513724964795166,  0.76241038669419667027,   0.87302837211088029635,   0.61444814674105419182,
        0.11313139102854451516,  -0.20120484829542991669,  -0.096464024590573517258, 0.11290448595125236933,
        0.053201258313801223414, -0.094475450505759278825, -0.010176836754490283644, 0.085454679419488248284,
        -0.051686161406188713472};
    const auto u = a.number(1.0) / a.fma(y, a.number(0.5), a.number(1.0)) - a.number(0.45);
    complement = exp(a, a.number(0.0) - square) * polynomial(a, u, kErfcx);
  }
  return a.copySign(a.select(y < a.number(1.0), near, a.number(1.0) - complement), x);
}

template <class A>
typename A::F rsqrt(const A& a, typename A::F x) {
  return a.number(1.0) / a.sqrt(x);
}

}  // namespace baton::math

#include "base/dim_bounds.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace baton {

namespace {

using Wide = DimInterval::Wide;
constexpr Wide kInfinite = DimInterval::kInfinite;

bool isInfinite(Wide bound) { return bound >= kInfinite || bound <= -kInfinite; }

Wide clamp(Wide bound) { return std::clamp(bound, -kInfinite, kInfinite); }

/// A lower bound that became too large is lowered to one that is not "no bound" of the
/// other side, and the same for an upper bound.
DimInterval bounded(Wide low, Wide high) {
  return {std::min(clamp(low), kInfinite - 1), std::max(clamp(high), 1 - kInfinite)};
}

Wide multiplyBounds(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  const bool negative = (a < 0) != (b < 0);
  Wide product;
  if (isInfinite(a) || isInfinite(b) || __builtin_mul_overflow(a, b, &product))
    return negative ? -kInfinite : kInfinite;
  return clamp(product);
}

/// Both finite or the dividend infinite; the divisor is positive.
Wide floorBounds(Wide a, Wide divisor) {
  if (isInfinite(a)) return a;
  const Wide quotient = a / divisor;
  return quotient - (a % divisor < 0 ? 1 : 0);
}

DimInterval floorDivide(const DimInterval& a, DimInterval b) {
  if (b.low <= 0 && b.high >= 0) {
    if (b.low == 0) {
      b.low = 1;  // there is no value for a divisor of zero
    } else if (b.high == 0) {
      b.high = -1;
    } else {
      const Wide most = std::max(a.high < 0 ? -a.high : a.high, a.low < 0 ? -a.low : a.low);
      return {-most, most};
    }
    if (b.isEmpty()) return {};
  }
  if (b.high < 0) return floorDivide(-a, -b);
  const Wide low =
      a.low >= 0 ? (isInfinite(b.high) ? Wide{0} : floorBounds(a.low, b.high)) : floorBounds(a.low, b.low);
  const Wide high = a.high >= 0 ? floorBounds(a.high, b.low)
                                : (isInfinite(b.high) ? Wide{-1} : floorBounds(a.high, b.high));
  return bounded(low, high);
}

DimInterval floorModulo(const DimInterval& a, const DimInterval& b) {
  if (b.low < 0) {
    return {isInfinite(b.low) ? -kInfinite : std::min(b.low + 1, Wide{0}),
            isInfinite(b.high) ? kInfinite : std::max(b.high - 1, Wide{0})};
  }
  DimInterval result{0, isInfinite(b.high) ? kInfinite : std::max(b.high - 1, Wide{0})};
  if (a.low >= 0) {
    result.high = std::min(result.high, a.high);
    if (a.high < b.low) result.low = a.low;
  }
  return result;
}

}  // namespace

DimInterval DimInterval::of(DimRange range) {
  return {range.low == INT64_MIN ? -kInfinite : Wide{range.low},
          range.high == INT64_MAX ? kInfinite : Wide{range.high}};
}

DimRange DimInterval::range() const {
  return {static_cast<int64_t>(std::clamp(low, Wide{INT64_MIN}, Wide{INT64_MAX})),
          static_cast<int64_t>(std::clamp(high, Wide{INT64_MIN}, Wide{INT64_MAX}))};
}

DimInterval operator+(const DimInterval& a, const DimInterval& b) {
  const Wide low = a.low <= -kInfinite || b.low <= -kInfinite ? -kInfinite : a.low + b.low;
  const Wide high = a.high >= kInfinite || b.high >= kInfinite ? kInfinite : a.high + b.high;
  return bounded(low, high);
}

DimInterval operator*(const DimInterval& a, const DimInterval& b) {
  const Wide products[] = {multiplyBounds(a.low, b.low), multiplyBounds(a.low, b.high),
                           multiplyBounds(a.high, b.low), multiplyBounds(a.high, b.high)};
  return bounded(*std::min_element(std::begin(products), std::end(products)),
                 *std::max_element(std::begin(products), std::end(products)));
}

DimInterval intersect(const DimInterval& a, const DimInterval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

DimInterval DimInterval::apply(DimOp op, const DimInterval& a, const DimInterval& b) {
  switch (op) {
    case DimOp::FloorDiv: return floorDivide(a, b);
    case DimOp::FloorMod: return floorModulo(a, b);
    case DimOp::CeilDiv: return -floorDivide(-a, b);
    case DimOp::Min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case DimOp::Max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case DimOp::TooLarge: return {};
  }
  return {};
}

DimCongruence DimCongruence::make(__int128 modulus, __int128 residue) {
  if (modulus < 0) modulus = -modulus;
  if (modulus == 0) {
    if (residue > INT64_MAX || residue < INT64_MIN) return {};
    return {0, static_cast<int64_t>(residue)};
  }
  if (modulus > INT64_MAX) return {};
  residue %= modulus;
  if (residue < 0) residue += modulus;
  return {static_cast<int64_t>(modulus), static_cast<int64_t>(residue)};
}

DimCongruence operator+(const DimCongruence& a, const DimCongruence& b) {
  return DimCongruence::make(std::gcd(a.modulus, b.modulus), static_cast<__int128>(a.residue) + b.residue);
}

DimCongruence operator*(const DimCongruence& a, const DimCongruence& b) {
  // (m1 q1 + r1)(m2 q2 + r2): everything but r1 r2 is a multiple of the common divisor
  const auto gcd = [](__int128 x, __int128 y) {
    if (x < 0) x = -x;
    if (y < 0) y = -y;
    while (y != 0) {
      const __int128 rest = x % y;
      x = y;
      y = rest;
    }
    return x;
  };
  const __int128 both = static_cast<__int128>(a.modulus) * b.modulus;
  const __int128 left = static_cast<__int128>(a.modulus) * b.residue;
  const __int128 right = static_cast<__int128>(b.modulus) * a.residue;
  return DimCongruence::make(gcd(both, gcd(left, right)), static_cast<__int128>(a.residue) * b.residue);
}

DimCongruence DimCongruence::apply(DimOp op, const DimCongruence& a, const DimCongruence& b) {
  switch (op) {
    case DimOp::Min:
    case DimOp::Max: {
      const __int128 apart = static_cast<__int128>(a.residue) - b.residue;
      const auto distance = static_cast<uint64_t>(apart < 0 ? -apart : apart);
      const uint64_t common = std::gcd<uint64_t>(std::gcd(a.modulus, b.modulus), distance);
      if (common > INT64_MAX) return {};
      return make(static_cast<int64_t>(common), a.residue);
    }
    case DimOp::FloorDiv:
      // (m q + r) div c = (m/c) q + r div c
      if (b.modulus == 0 && b.residue > 0 && a.modulus % b.residue == 0) {
        const int64_t quotient = a.residue / b.residue - (a.residue % b.residue < 0 ? 1 : 0);
        return make(a.modulus / b.residue, quotient);
      }
      return {};
    case DimOp::FloorMod:
      if (b.modulus == 0 && b.residue > 0) return make(std::gcd(a.modulus, b.residue), a.residue);
      return {};
    case DimOp::CeilDiv:
    case DimOp::TooLarge: return {};
  }
  return {};
}

std::optional<int64_t> DimCongruence::remainder(int64_t divisor) const {
  if (modulus % divisor != 0) return std::nullopt;
  const int64_t rest = residue % divisor;
  return rest < 0 ? rest + divisor : rest;
}

std::optional<DimCongruence> DimCongruence::meet(const DimCongruence& a, const DimCongruence& b) {
  const int64_t common = std::gcd(a.modulus, b.modulus);
  const __int128 apart = static_cast<__int128>(b.residue) - a.residue;
  if (common == 0) return apart == 0 ? std::optional(a) : std::nullopt;
  if (apart % common != 0) return std::nullopt;
  if (a.modulus == 0) return a;
  if (b.modulus == 0) return b;
  // x = a.residue + a.modulus * t with a.modulus * t = apart (mod b.modulus)
  const __int128 step = a.modulus / common;
  const __int128 cycle = b.modulus / common;
  const __int128 joint = step * b.modulus;
  if (joint > INT64_MAX) return a.modulus >= b.modulus ? a : b;
  __int128 inverse = 0;  // of step modulo cycle, by Euclid
  __int128 nextInverse = 1;
  __int128 rest = cycle;
  __int128 nextRest = step % cycle;
  while (nextRest != 0) {
    const __int128 quotient = rest / nextRest;
    inverse = std::exchange(nextInverse, inverse - quotient * nextInverse);
    rest = std::exchange(nextRest, rest - quotient * nextRest);
  }
  __int128 turns = (apart / common) % cycle * (inverse % cycle) % cycle;
  if (turns < 0) turns += cycle;
  return make(joint, a.residue + static_cast<__int128>(a.modulus) * turns);
}

}  // namespace baton

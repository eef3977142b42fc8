// Inside of DimKnowledge: the two abstract values that stand for all values of an
// expression, an interval and a congruence class, and their arithmetic.
#pragma once

#include "base/dim.h"

namespace baton {

/// Closed interval of integers. Bounds lie within +-kInfinite, which means "no bound".
struct DimInterval {
  using Wide = __int128;
  static constexpr Wide kInfinite = Wide{1} << 100;

  Wide low = -kInfinite;
  Wide high = kInfinite;

  static DimInterval of(DimRange range);
  DimRange range() const;
  bool isEmpty() const { return low > high; }
  bool contains(Wide value) const { return low <= value && value <= high; }

  DimInterval operator-() const { return {-high, -low}; }
  friend DimInterval operator+(const DimInterval& a, const DimInterval& b);
  friend DimInterval operator*(const DimInterval& a, const DimInterval& b);
  friend DimInterval intersect(const DimInterval& a, const DimInterval& b);
  /// Of the values that the operation has where it has one.
  static DimInterval apply(DimOp op, const DimInterval& a, const DimInterval& b);
};

/// All integers that are `residue` modulo `modulus`; modulus 0 is the constant `residue`,
/// modulus 1 says nothing. 0 <= residue < modulus otherwise.
struct DimCongruence {
  int64_t modulus = 1;
  int64_t residue = 0;

  static DimCongruence constant(int64_t value) { return {0, value}; }
  static DimCongruence make(__int128 modulus, __int128 residue);
  friend DimCongruence operator+(const DimCongruence& a, const DimCongruence& b);
  friend DimCongruence operator*(const DimCongruence& a, const DimCongruence& b);
  static DimCongruence apply(DimOp op, const DimCongruence& a, const DimCongruence& b);
  /// The remainder modulo `divisor` (> 0), when all values agree on it.
  std::optional<int64_t> remainder(int64_t divisor) const;
  /// Values in both; nothing when there are none. May be wider than the exact answer.
  static std::optional<DimCongruence> meet(const DimCongruence& a, const DimCongruence& b);
};

}  // namespace baton

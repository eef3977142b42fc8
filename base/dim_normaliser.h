// Inside of dim*.cc: the representation of DimExpr and the construction of its normal form.
#pragma once

#include "base/dim.h"

namespace baton {

/// What a DimExpr points to; never has zero terms.
struct DimExpr::Rep {
  std::vector<Term> terms;
  uint64_t hash = 0;
  uint64_t secondHash = 0;  // independent of the first: the two fingerprint TooLarge terms
  uint32_t depth = 0;       // opaque terms within opaque terms
  uint32_t size = 0;        // terms and factors, opaque operands included
  bool tooLarge = false;
};

struct DimNormaliser {
  using Term = DimExpr::Term;
  using Factor = DimExpr::Factor;

  /// From terms that are sorted, merged and without zero coefficients. `tag`, `a` and `b`
  /// say what operation it was, should the result exceed the limits.
  static DimExpr make(std::vector<Term> terms, char tag, const DimExpr& a, const DimExpr& b);
  static DimExpr single(Term term);
  static DimExpr atom(const Factor& factor) { return single({1, {factor}}); }
  static DimExpr tooLarge(char tag, const DimExpr& a, const DimExpr& b);
  /// One opaque term, as it stands.
  static DimExpr keep(DimOp op, const DimExpr& a, const DimExpr& b);

  static std::strong_ordering compare(const Factor& a, const Factor& b);
  /// Lexicographic, the constant term (no factors) last.
  static std::strong_ordering compare(std::span<const Factor> a, std::span<const Factor> b);
  static std::strong_ordering compare(const DimExpr& a, const DimExpr& b);

  static DimExpr divide(const DimExpr& a, int64_t divisor);
  static DimExpr modulo(const DimExpr& a, int64_t divisor);
  static DimExpr extreme(DimOp op, const DimExpr& a, const DimExpr& b);

  static const DimExpr::Rep* rep(const DimExpr& expr) { return expr.rep_.get(); }
};

/// Rounds towards minus infinity; the divisor is positive.
constexpr int64_t floorQuotient(int64_t a, int64_t divisor) {
  const int64_t quotient = a / divisor;
  return quotient - (a % divisor < 0 ? 1 : 0);
}

}  // namespace baton

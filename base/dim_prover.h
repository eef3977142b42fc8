// Inside of DimKnowledge: what follows from a set of facts, which must not change meanwhile; every
// answer errs towards "unknown". Recursion is bounded by the depth of expressions and by the effort
// stated here. An operation that several expressions share is looked at once.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/dim.h"
#include "base/dim_bounds.h"

namespace baton {

class DimProver {
 public:
  using Factor = DimExpr::Factor;
  using Term = DimExpr::Term;

  explicit DimProver(const DimKnowledge& knowledge) : knowledge_(knowledge) {}

  DimExpr canonical(const DimExpr& expr) const;
  DimInterval interval(const DimExpr& expr) const;
  DimCongruence congruence(const DimExpr& expr) const;
  Truth isZero(const DimExpr& difference) const;
  bool isNonNegative(const DimExpr& expr) const;

  DimInterval interval(const Factor& atom) const;
  DimCongruence congruence(const Factor& atom) const;
  /// Floor divisions by constants multiplied away: a positive multiple of the argument.
  DimExpr withoutDivisions(const DimExpr& expr) const;

 private:
  struct Effort {
    int splits = 3;                ///< minima and maxima taken apart on one path
    int combinations = 2;          ///< facts subtracted on one path
    int attempts = 400;            ///< in all
    std::vector<DimExpr> assumed;  ///< facts of this path, beside the knowledge
  };

  DimExpr canonicalOnce(const DimExpr& expr) const;
  DimExpr canonicalAtom(const Factor& atom) const;
  DimExpr canonicalAtomAnew(const Factor& atom) const;
  DimExpr resolve(DimOp op, const DimExpr& a, const DimExpr& b) const;
  bool prove(const DimExpr& expr, Effort& effort) const;
  bool proveWith(const DimExpr& expr, const DimExpr& fact, Effort& effort) const;

  template <class T>
  using PerOperation = std::unordered_map<std::shared_ptr<const DimOpaque>, T>;

  const DimKnowledge& knowledge_;
  // Without them, the work doubles with every level of nested operations that are used twice.
  mutable PerOperation<DimExpr> canonical_;
  mutable PerOperation<DimInterval> intervals_;
};

/// a / b where b divides a as polynomials; nothing otherwise.
std::optional<DimExpr> dividesExactly(const DimExpr& a, const DimExpr& b);

}  // namespace baton

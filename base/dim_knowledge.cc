// DimKnowledge: taking constraints in. Each becomes an equality of an atom (a symbol or an
// opaque term), a range or congruence of one, or an expression that is >= 0 or != 0.
#include <algorithm>
#include <cstdlib>
#include <deque>
#include <numeric>

#include "base/checked_math.h"
#include "base/dim.h"
#include "base/dim_bounds.h"
#include "base/dim_normaliser.h"
#include "base/dim_prover.h"

namespace baton {

namespace {

using Term = DimExpr::Term;
using Factor = DimExpr::Factor;
using Wide = DimInterval::Wide;

Error contradiction() {
  return Error(ErrorCode::ProgramError, "the constraint contradicts what is already known");
}

bool mentions(const DimExpr& expr, const Factor& atom) {
  for (const Term& term : expr.terms())
    for (const Factor& factor : term.factors) {
      if (DimNormaliser::compare(factor, atom) == 0) return true;
      if (factor.opaque && (mentions(factor.opaque->a, atom) || mentions(factor.opaque->b, atom)))
        return true;
    }
  return false;
}

}  // namespace

/// Adds a constraint; what it implies goes on a list. Looked at again is what mentions the
/// symbols of atoms that changed, and nothing else.
class DimAssumption {
 public:
  explicit DimAssumption(DimKnowledge& knowledge) : knowledge_(knowledge) {}

  Result<void> run(const DimConstraint& constraint) {
    pending_.push_back(constraint);
    // The bound is for equalities that rewrite each other; giving up loses facts, not truth.
    constexpr int kMaxSteps = 200;
    for (int step = 0; step < kMaxSteps && !pending_.empty(); ++step) {
      const DimConstraint next = std::move(pending_.front());
      pending_.pop_front();
      BATON_TRY(add(next));
      BATON_TRY(propagate());
      canonicaliseFacts();
    }
    return success();
  }

 private:
  using AtomFacts = DimKnowledge::AtomFacts;
  using Fact = DimKnowledge::Fact;

  DimProver prover() const { return DimProver(knowledge_); }

  void imply(DimExpr lhs, Relation relation, DimExpr rhs) {
    pending_.push_back({std::move(lhs), relation, std::move(rhs)});
  }

  AtomFacts factsOf(const Factor& atom) { return knowledge_.atoms_[knowledge_.indexOf(atom)]; }
  void change(AtomFacts facts) {
    const uint32_t index = knowledge_.indexOf(facts.atom);
    changed_.push_back(index);
    moved_.push_back(index);
    knowledge_.change(index, std::move(facts));
  }
  void addFact(Fact::Kind kind, const DimExpr& expr) {
    added_.push_back(static_cast<uint32_t>(knowledge_.facts_.size()));
    knowledge_.addFact(kind, expr);
  }

  Result<void> add(const DimConstraint& constraint) {
    DimExpr difference;
    switch (constraint.relation) {
      case Relation::Eq:
      case Relation::Ne: difference = constraint.lhs - constraint.rhs; break;
      case Relation::Le: difference = constraint.rhs - constraint.lhs; break;
      case Relation::Lt: difference = constraint.rhs - constraint.lhs - DimExpr::constant(1); break;
      case Relation::Ge: difference = constraint.lhs - constraint.rhs; break;
      case Relation::Gt: difference = constraint.lhs - constraint.rhs - DimExpr::constant(1); break;
    }
    if (difference.isTooLarge()) return success();
    difference = prover().canonical(difference);
    if (constraint.relation == Relation::Eq) return addZero(difference);
    if (constraint.relation == Relation::Ne) return addNonZero(difference);
    return addNonNegative(difference);
  }

  /// Divides by the common divisor of the terms with factors; the constant is rounded down.
  static DimExpr reduced(const DimExpr& expr, bool& exact) {
    int64_t common = 0;
    int64_t constant = 0;
    for (const Term& term : expr.terms()) {
      if (term.coefficient == INT64_MIN) return expr;
      if (term.factors.empty())
        constant = term.coefficient;
      else
        common = std::gcd(common, term.coefficient);
    }
    if (common <= 1) return expr;
    const int64_t quotient = floorQuotient(constant, common);
    exact = quotient * common == constant;
    DimExpr result = DimExpr::constant(quotient);
    for (const Term& term : expr.terms())
      if (!term.factors.empty())
        result = result + DimNormaliser::single({term.coefficient / common, term.factors});
    return result;
  }

  Result<void> addZero(const DimExpr& expr) {
    if (prover().isZero(expr) == Truth::False) return contradiction();
    if (expr.isZero()) return success();
    bool exact = true;
    const DimExpr difference = reduced(expr, exact);
    if (!exact) return contradiction();
    if (eliminate(difference)) return success();
    const DimExpr flat = prover().withoutDivisions(difference);
    if (flat != difference && eliminate(flat)) return success();
    BATON_TRY(addNonNegative(difference));
    return addNonNegative(DimExpr() - difference);
  }

  /// Solves `difference == 0` for an atom of coefficient 1 or -1: for the symbol of the
  /// highest number, or an opaque term when there is none.
  bool eliminate(const DimExpr& difference) {
    const Term* best = nullptr;
    for (const Term& term : difference.terms()) {
      if (term.factors.size() != 1 || (term.coefficient != 1 && term.coefficient != -1)) continue;
      const Factor& atom = term.factors[0];
      if (mentions(difference - DimNormaliser::single(term), atom)) continue;
      if (atom.opaque) {
        if (atom.opaque->op == DimOp::TooLarge || mentions(atom.opaque->a, atom) || best) continue;
      } else if (best && !best->factors[0].opaque && best->factors[0].symbol > atom.symbol) {
        continue;
      }
      best = &term;
    }
    if (!best) return false;
    const Factor atom = best->factors[0];
    const DimExpr rest = difference - DimNormaliser::single(*best);
    const DimExpr value = best->coefficient == 1 ? DimExpr() - rest : rest;
    if (value.isTooLarge()) return false;
    // What was known of the atom now holds for the expression.
    AtomFacts facts = factsOf(atom);
    implyAll(value, facts);
    facts.equals = value;
    change(std::move(facts));
    if (atom.opaque) learnFromEqual(*atom.opaque, value);
    return true;
  }

  void implyAll(const DimExpr& value, const AtomFacts& facts) {
    if (facts.range.low != INT64_MIN) imply(value, Relation::Ge, DimExpr::constant(facts.range.low));
    if (facts.range.high != INT64_MAX) imply(value, Relation::Le, DimExpr::constant(facts.range.high));
    if (facts.modulus > 1)
      imply(floorMod(value, DimExpr::constant(facts.modulus)), Relation::Eq,
            DimExpr::constant(facts.residue));
  }

  void learnFromEqual(const DimOpaque& operation, const DimExpr& value) {
    if (operation.op != DimOp::FloorMod) return;
    // floor_mod(atom + c, m) == r
    const auto modulus = operation.b.asConstant();
    const auto residue = value.asConstant();
    if (!modulus || *modulus <= 0 || !residue) return;
    DimExpr base = operation.a;
    int64_t offset = 0;
    if (!base.terms().empty() && base.terms().back().factors.empty()) {
      offset = base.terms().back().coefficient;
      base = base - DimExpr::constant(offset);
    }
    if (base.terms().size() != 1 || base.terms()[0].coefficient != 1 || base.terms()[0].factors.size() != 1)
      return;
    AtomFacts facts = factsOf(base.terms()[0].factors[0]);
    const auto wanted = DimCongruence::make(*modulus, static_cast<__int128>(*residue) - offset);
    const auto both = DimCongruence::meet({facts.modulus, facts.residue}, wanted);
    if (!both) return;  // isZero saw the contradiction, or it is beyond us
    facts.modulus = both->modulus;
    facts.residue = both->residue;
    change(std::move(facts));
  }

  Result<void> addNonZero(const DimExpr& difference) {
    if (prover().isZero(difference) == Truth::True) return contradiction();
    if (difference.isConstant()) return success();
    for (uint32_t index : knowledge_.factsAbout(difference)) {
      const Fact& fact = knowledge_.facts_[index];
      if (fact.holds && fact.kind == Fact::Kind::NonZero && fact.expr == difference) return success();
    }
    addFact(Fact::Kind::NonZero, difference);
    return success();
  }

  Result<void> addNonNegative(const DimExpr& expr) {
    if (const auto value = expr.asConstant()) {
      if (*value < 0) return contradiction();
      return success();
    }
    bool exact = true;
    const DimExpr bound = reduced(expr, exact);
    if (prover().isNonNegative(DimExpr() - bound - DimExpr::constant(1))) return contradiction();
    const auto all = bound.terms();
    const bool hasConstant = all.back().factors.empty();
    if (all.size() == (hasConstant ? 2u : 1u) && all[0].factors.size() == 1)
      return tighten(all[0], hasConstant ? Wide{all[1].coefficient} : Wide{0});
    if (prover().isNonNegative(bound)) return success();
    addFact(Fact::Kind::NonNegative, bound);
    return success();
  }

  /// term + rest >= 0 for a term with one factor.
  Result<void> tighten(const Term& term, Wide rest) {
    const Wide k = term.coefficient;
    DimInterval bound;
    const auto floorOf = [](Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); };
    if (k > 0)
      bound.low = -floorOf(rest, k);
    else
      bound.high = floorOf(rest, -k);
    return restrict(term.factors[0], bound);
  }

  Result<void> restrict(const Factor& atom, const DimInterval& bound) {
    const DimInterval known = prover().interval(atom);
    const DimInterval both = intersect(known, bound);
    if (both.isEmpty()) return contradiction();
    if (both.low == known.low && both.high == known.high) return success();
    const DimRange range = both.range();
    AtomFacts facts = factsOf(atom);
    if (facts.range == range) return success();
    facts.range = range;
    if (facts.equals) implyAll(*facts.equals, facts);
    change(std::move(facts));
    if (atom.opaque) learnFromRange(*atom.opaque, range);
    return success();
  }

  void learnFromRange(const DimOpaque& operation, DimRange range) {
    const bool below = range.high != INT64_MAX;
    const bool above = range.low != INT64_MIN;
    const DimExpr low = DimExpr::constant(range.low);
    const DimExpr high = DimExpr::constant(range.high);
    switch (operation.op) {
      case DimOp::FloorDiv: {
        const auto divisor = operation.b.asConstant();
        if (!divisor || *divisor <= 0) return;
        if (above) imply(operation.a, Relation::Ge, low * operation.b);
        if (below) imply(operation.a, Relation::Lt, (high + DimExpr::constant(1)) * operation.b);
        return;
      }
      case DimOp::Min:
        if (!above) return;
        imply(operation.a, Relation::Ge, low);
        imply(operation.b, Relation::Ge, low);
        return;
      case DimOp::Max:
        if (!below) return;
        imply(operation.a, Relation::Le, high);
        imply(operation.b, Relation::Le, high);
        return;
      case DimOp::FloorMod:
      case DimOp::CeilDiv:
      case DimOp::TooLarge: return;
    }
  }

  /// What the atoms may matter to: what mentions their symbols, and themselves.
  struct Affected {
    std::vector<uint32_t> facts;
    std::vector<uint32_t> atoms;
  };
  Affected affectedBy(const std::vector<uint32_t>& changed) const {
    Affected affected{{}, changed};
    for (uint32_t index : changed) {
      const DimExpr atom = DimNormaliser::atom(knowledge_.atoms_[index].atom);
      const std::vector<uint32_t> facts = knowledge_.factsAbout(atom);
      affected.facts.insert(affected.facts.end(), facts.begin(), facts.end());
      const std::vector<uint32_t> atoms = knowledge_.atomsAbout(atom);
      affected.atoms.insert(affected.atoms.end(), atoms.begin(), atoms.end());
    }
    return {DimKnowledge::sorted(std::move(affected.facts)), DimKnowledge::sorted(std::move(affected.atoms))};
  }

  /// Bounds of single atoms from the facts that have several.
  Result<void> propagate() {
    constexpr int kMaxRounds = 4;
    for (int round = 0; round < kMaxRounds && !(changed_.empty() && added_.empty()); ++round) {
      Affected affected = affectedBy(std::exchange(changed_, {}));
      affected.facts.insert(affected.facts.end(), added_.begin(), added_.end());
      added_.clear();
      for (uint32_t index : affected.facts) {
        const Fact fact = knowledge_.facts_[index];
        if (!fact.holds) continue;
        if (fact.kind == Fact::Kind::NonZero) {
          BATON_TRY(excludeZero(fact.expr));
          continue;
        }
        for (const Term& term : fact.expr.terms()) {
          if (term.factors.size() != 1) continue;
          const DimInterval rest = prover().interval(fact.expr - DimNormaliser::single(term));
          if (rest.high < DimInterval::kInfinite) BATON_TRY(tighten(term, rest.high));
        }
      }
      for (uint32_t index : affected.atoms) BATON_TRY(snapToResidue(Factor(knowledge_.atoms_[index].atom)));
    }
    changed_.clear();
    added_.clear();
    return success();
  }

  Result<void> excludeZero(const DimExpr& expr) {
    const auto all = expr.terms();
    const bool hasConstant = !all.empty() && all.back().factors.empty();
    if (all.size() != (hasConstant ? 2u : 1u) || all[0].factors.size() != 1) return success();
    const Wide constant = hasConstant ? all[1].coefficient : 0;
    if (constant % all[0].coefficient != 0) return success();
    const Wide excluded = -constant / all[0].coefficient;
    DimInterval range = prover().interval(all[0].factors[0]);
    if (range.low == excluded) ++range.low;
    if (range.high == excluded) --range.high;
    return restrict(all[0].factors[0], range);
  }

  Result<void> snapToResidue(const Factor& atom) {
    const DimCongruence values = prover().congruence(atom);
    if (values.modulus <= 1) return success();
    DimInterval range = prover().interval(atom);
    const auto remainder = [&](Wide value) {
      const Wide rest = (value - values.residue) % values.modulus;
      return rest < 0 ? rest + values.modulus : rest;
    };
    if (range.low > -DimInterval::kInfinite && remainder(range.low) != 0)
      range.low += values.modulus - remainder(range.low);
    if (range.high < DimInterval::kInfinite) range.high -= remainder(range.high);
    return restrict(atom, range);
  }

  /// Facts are about canonical expressions: what a change makes different is taken out and
  /// assumed again.
  void canonicaliseFacts() {
    if (moved_.empty()) return;
    const Affected affected = affectedBy(std::exchange(moved_, {}));
    // All of it with the knowledge as it is, before any is taken out.
    std::vector<DimExpr> facts;
    for (uint32_t index : affected.facts) facts.push_back(prover().canonical(knowledge_.facts_[index].expr));
    std::vector<DimExpr> keys;
    for (uint32_t index : affected.atoms) {
      const Factor& atom = knowledge_.atoms_[index].atom;
      keys.push_back(atom.opaque ? DimExpr::opaque(atom.opaque->op, prover().canonical(atom.opaque->a),
                                                   prover().canonical(atom.opaque->b))
                                 : DimNormaliser::atom(atom));
    }
    for (size_t i = 0; i < affected.atoms.size(); ++i) canonicaliseAtom(affected.atoms[i], keys[i]);
    for (size_t i = 0; i < affected.facts.size(); ++i) {
      const Fact fact = knowledge_.facts_[affected.facts[i]];
      if (!fact.holds || facts[i] == fact.expr) continue;
      knowledge_.dropFact(affected.facts[i]);
      imply(facts[i], fact.kind == Fact::Kind::NonNegative ? Relation::Ge : Relation::Ne, DimExpr());
    }
  }

  void canonicaliseAtom(uint32_t index, const DimExpr& key) {
    AtomFacts facts = knowledge_.atoms_[index];
    if (key != DimNormaliser::atom(facts.atom)) {
      if (!facts.equals && facts.range == DimRange{} && facts.modulus == 1) return;
      if (facts.equals) imply(key, Relation::Eq, *facts.equals);
      implyAll(key, facts);
      AtomFacts nothing;
      nothing.atom = facts.atom;
      knowledge_.change(index, std::move(nothing));
    } else if (facts.equals) {
      DimExpr equals = prover().canonical(*facts.equals);
      if (equals == *facts.equals) return;
      facts.equals = std::move(equals);
      knowledge_.change(index, std::move(facts));
    }
  }

  DimKnowledge& knowledge_;
  std::deque<DimConstraint> pending_;
  std::vector<uint32_t> changed_;  // atoms, since bounds were last worked out
  std::vector<uint32_t> added_;    // facts, since then
  std::vector<uint32_t> moved_;    // atoms, since facts were last made canonical
};

Result<void> DimKnowledge::assume(const DimConstraint& constraint) {
  const Mark before = mark();
  Result<void> result = DimAssumption(*this).run(constraint);
  if (!result.has_value()) rollback(before);
  return result;
}

DimRange DimKnowledge::rangeOf(const DimExpr& expr) const {
  const DimProver prover(*this);
  const DimExpr canonical = prover.canonical(expr);
  return intersect(prover.interval(canonical), prover.interval(expr)).range();
}

DimExpr DimKnowledge::canonical(const DimExpr& expr) const { return DimProver(*this).canonical(expr); }

namespace {

Truth opposite(Truth truth) {
  if (truth == Truth::Unknown) return truth;
  return truth == Truth::True ? Truth::False : Truth::True;
}

/// `a <= b` for all values that the two may have.
Truth atMost(const DimInterval& a, const DimInterval& b) {
  if (a.high <= b.low) return Truth::True;
  return b.high < a.low ? Truth::False : Truth::Unknown;
}

Truth decideByBounds(const DimInterval& lhs, Relation relation, const DimInterval& rhs) {
  switch (relation) {
    case Relation::Eq:
      return atMost(lhs, rhs) == Truth::False || atMost(rhs, lhs) == Truth::False ? Truth::False
                                                                                  : Truth::Unknown;
    case Relation::Ne: return opposite(decideByBounds(lhs, Relation::Eq, rhs));
    case Relation::Lt: return opposite(atMost(rhs, lhs));
    case Relation::Le: return atMost(lhs, rhs);
    case Relation::Gt: return opposite(atMost(lhs, rhs));
    case Relation::Ge: return atMost(rhs, lhs);
  }
  return Truth::Unknown;
}

Truth decideByDifference(const DimProver& prover, const DimExpr& lhs, Relation relation, const DimExpr& rhs) {
  const auto nonNegative = [&](const DimExpr& expr) {
    if (prover.isNonNegative(expr)) return Truth::True;
    if (prover.isNonNegative(DimExpr() - expr - DimExpr::constant(1))) return Truth::False;
    return Truth::Unknown;
  };
  const DimExpr one = DimExpr::constant(1);
  switch (relation) {
    case Relation::Eq: return prover.isZero(lhs - rhs);
    case Relation::Ne: return opposite(prover.isZero(lhs - rhs));
    case Relation::Lt: return nonNegative(rhs - lhs - one);
    case Relation::Le: return nonNegative(rhs - lhs);
    case Relation::Gt: return nonNegative(lhs - rhs - one);
    case Relation::Ge: return nonNegative(lhs - rhs);
  }
  return Truth::Unknown;
}

}  // namespace

Truth DimKnowledge::decide(const DimExpr& lhs, Relation relation, const DimExpr& rhs) const {
  const DimProver prover(*this);
  const Truth truth = decideByDifference(prover, lhs, relation, rhs);
  if (truth != Truth::Unknown) return truth;
  // A difference may exceed 64 bits where neither side does.
  return decideByBounds(prover.interval(lhs), relation, prover.interval(rhs));
}

}  // namespace baton

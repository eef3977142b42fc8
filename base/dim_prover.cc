#include "base/dim_prover.h"

#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "base/dim_normaliser.h"

namespace baton {

namespace {

using Term = DimExpr::Term;
using Factor = DimExpr::Factor;

DimExpr one() { return DimExpr::constant(1); }

/// The factors of `term` without those of `divisor`, when it has them all.
std::optional<std::vector<Factor>> withoutFactors(std::span<const Factor> term,
                                                  std::span<const Factor> divisor) {
  std::vector<Factor> rest;
  size_t j = 0;
  for (const Factor& factor : term) {
    if (j < divisor.size() && DimNormaliser::compare(factor, divisor[j]) == 0)
      ++j;
    else
      rest.push_back(factor);
  }
  if (j != divisor.size()) return std::nullopt;
  return rest;
}

/// The part of a that is a multiple of b, term by term against b's only term, divided by it.
DimExpr multipleOf(const DimExpr& a, const DimExpr& b) {
  if (b.terms().size() != 1) return dividesExactly(a, b).value_or(DimExpr());
  const Term& divisor = b.terms()[0];
  DimExpr quotient;
  for (const Term& term : a.terms()) {
    const auto rest = withoutFactors(term.factors, divisor.factors);
    if (!rest || term.coefficient == INT64_MIN || term.coefficient % divisor.coefficient != 0) continue;
    quotient = quotient + DimNormaliser::single({term.coefficient / divisor.coefficient, *rest});
  }
  return quotient;
}

}  // namespace

std::optional<DimExpr> dividesExactly(const DimExpr& a, const DimExpr& b) {
  constexpr int kMaxSteps = 256;
  if (b.isZero()) return std::nullopt;
  // Terms are in lexicographic order of their exponents, so leading terms multiply.
  const Term& lead = b.terms()[0];
  DimExpr rest = a;
  DimExpr quotient;
  for (int step = 0; !rest.isZero(); ++step) {
    const Term& top = rest.terms()[0];
    const auto factors = withoutFactors(top.factors, lead.factors);
    if (step == kMaxSteps || !factors || top.coefficient == INT64_MIN ||
        top.coefficient % lead.coefficient != 0)
      return std::nullopt;
    const DimExpr part = DimNormaliser::single({top.coefficient / lead.coefficient, *factors});
    quotient = quotient + part;
    rest = rest - part * b;
    if (rest.isTooLarge()) return std::nullopt;
  }
  return quotient;
}

DimInterval DimProver::interval(const Factor& atom) const {
  DimInterval result;
  if (atom.opaque) {
    if (const auto known = intervals_.find(atom.opaque); known != intervals_.end()) return known->second;
    const DimOpaque& inner = *atom.opaque;
    result = DimInterval::apply(inner.op, interval(inner.a), interval(inner.b));
  }
  if (const auto* facts = knowledge_.find(atom)) result = intersect(result, DimInterval::of(facts->range));
  if (atom.opaque) intervals_.emplace(atom.opaque, result);
  return result;
}

DimInterval DimProver::interval(const DimExpr& expr) const {
  DimInterval sum{0, 0};
  for (const Term& term : expr.terms()) {
    DimInterval product{term.coefficient, term.coefficient};
    for (size_t i = 0; i < term.factors.size();) {
      const DimInterval factor = interval(term.factors[i]);
      DimInterval power = factor;
      size_t count = 1;
      for (++i; i < term.factors.size() && DimNormaliser::compare(term.factors[i - 1], term.factors[i]) == 0;
           ++i) {
        power = power * factor;
        ++count;
      }
      if (count % 2 == 0) power.low = std::max(power.low, DimInterval::Wide{0});
      product = product * power;
    }
    sum = sum + product;
  }
  return sum;
}

DimCongruence DimProver::congruence(const Factor& atom) const {
  DimCongruence result;
  if (atom.opaque)
    result = DimCongruence::apply(atom.opaque->op, congruence(atom.opaque->a), congruence(atom.opaque->b));
  if (const auto* facts = knowledge_.find(atom))
    if (const auto both = DimCongruence::meet(result, {facts->modulus, facts->residue})) result = *both;
  return result;
}

DimCongruence DimProver::congruence(const DimExpr& expr) const {
  DimCongruence sum = DimCongruence::constant(0);
  for (const Term& term : expr.terms()) {
    DimCongruence product = DimCongruence::constant(term.coefficient);
    for (const Factor& factor : term.factors) product = product * congruence(factor);
    sum = sum + product;
  }
  return sum;
}

DimExpr DimProver::resolve(DimOp op, const DimExpr& a, const DimExpr& b) const {
  if (op == DimOp::Min || op == DimOp::Max) {
    const DimInterval difference = interval(b - a);
    if (difference.low >= 0) return op == DimOp::Min ? a : b;
    if (difference.high <= 0) return op == DimOp::Min ? b : a;
    return DimExpr::opaque(op, a, b);
  }
  const DimExpr plain = DimExpr::opaque(op, a, b);
  const DimOpaque* kept = plain.asOpaque();
  if (!kept || op == DimOp::TooLarge) return plain;
  const auto divisor = kept->b.asConstant();
  if (divisor) {
    if (*divisor <= 0) return plain;
    const DimInterval dividend = interval(kept->a);
    const DimInterval quotient = DimInterval::apply(DimOp::FloorDiv, dividend, {*divisor, *divisor});
    const bool oneQuotient = quotient.low == quotient.high && quotient.low >= INT64_MIN / *divisor &&
                             quotient.low <= INT64_MAX / *divisor;
    if (kept->op == DimOp::FloorDiv && oneQuotient)
      return DimExpr::constant(static_cast<int64_t>(quotient.low));
    if (kept->op == DimOp::FloorMod) {
      if (const auto remainder = congruence(kept->a).remainder(*divisor))
        return DimExpr::constant(*remainder);
      if (oneQuotient) return kept->a - DimExpr::constant(static_cast<int64_t>(quotient.low) * *divisor);
    }
    return plain;
  }
  // By an expression: op(b*q + r, b) gives q out of a division and nothing out of a
  // remainder. With r = 0 that would lose the error of b = 0, unless b is known not to be.
  const DimExpr quotient = multipleOf(kept->a, kept->b);
  if (quotient.isZero()) return plain;
  const DimExpr rest = kept->a - quotient * kept->b;
  if (rest.isTooLarge() && !kept->a.isTooLarge()) return plain;
  const bool remainder = kept->op == DimOp::FloorMod;
  if (rest.isZero()) {
    if (interval(kept->b).contains(0)) return plain;
    return remainder ? DimExpr() : quotient;
  }
  const DimExpr inner = DimExpr::opaque(kept->op, rest, kept->b);
  return remainder ? inner : quotient + inner;
}

DimExpr DimProver::canonicalAtom(const Factor& atom) const {
  if (!atom.opaque) return canonicalAtomAnew(atom);
  if (const auto known = canonical_.find(atom.opaque); known != canonical_.end()) return known->second;
  return canonical_.emplace(atom.opaque, canonicalAtomAnew(atom)).first->second;
}

DimExpr DimProver::canonicalAtomAnew(const Factor& atom) const {
  DimExpr expr = DimNormaliser::atom(atom);
  if (atom.opaque) {
    const DimOpaque& inner = *atom.opaque;
    expr = resolve(inner.op, canonicalOnce(inner.a), canonicalOnce(inner.b));
    if (!expr.asOpaque() && !expr.asSymbol()) return expr;
  }
  const DimInterval range = interval(expr.terms()[0].factors[0]);
  if (range.low == range.high && range.low >= INT64_MIN && range.low <= INT64_MAX)
    return DimExpr::constant(static_cast<int64_t>(range.low));
  const auto* facts = knowledge_.find(expr.terms()[0].factors[0]);
  return facts && facts->equals ? *facts->equals : expr;
}

DimExpr DimProver::canonicalOnce(const DimExpr& expr) const {
  DimExpr sum;
  for (const Term& term : expr.terms()) {
    DimExpr product = DimExpr::constant(term.coefficient);
    for (const Factor& factor : term.factors) product = product * canonicalAtom(factor);
    sum = sum + product;
  }
  // b * floor_div(a, b) is a where the remainder is known to be constant
  DimExpr result = sum;
  for (const Term& term : sum.terms())
    for (const Factor& factor : term.factors) {
      if (!factor.opaque || factor.opaque->op != DimOp::FloorDiv) continue;
      const DimOpaque& division = *factor.opaque;
      const auto others = withoutFactors(term.factors, {&factor, 1});
      const auto scale = dividesExactly(DimNormaliser::single({term.coefficient, *others}), division.b);
      if (!scale) continue;
      const DimExpr remainder = resolve(DimOp::FloorMod, division.a, division.b);
      const auto* facts = remainder.asOpaque() ? knowledge_.find(remainder.terms()[0].factors[0]) : nullptr;
      const DimExpr known = facts && facts->equals ? *facts->equals : remainder;
      if (!known.isConstant()) continue;
      result = result - DimNormaliser::single(term) + *scale * (division.a - known);
      break;
    }
  if (result.isTooLarge() && !expr.isTooLarge()) return expr;
  return result;
}

DimExpr DimProver::canonical(const DimExpr& expr) const {
  constexpr int kMaxRounds = 4;
  DimExpr current = expr;
  for (int round = 0; round < kMaxRounds; ++round) {
    DimExpr next = canonicalOnce(current);
    if (next == current) break;
    current = std::move(next);
  }
  return current;
}

DimExpr DimProver::withoutDivisions(const DimExpr& expr) const {
  int64_t scale = 1;
  bool any = false;
  for (const Term& term : expr.terms()) {
    for (const Factor& factor : term.factors) {
      if (!factor.opaque || (factor.opaque->op != DimOp::FloorDiv && factor.opaque->op != DimOp::CeilDiv))
        continue;
      any = true;
      const auto divisor = factor.opaque->b.asConstant();
      if (!divisor || *divisor <= 0) continue;
      const auto needed = checkedMul(scale, *divisor / std::gcd(scale, *divisor));
      if (!needed || *needed > (int64_t{1} << 40)) return expr;
      scale = *needed;
    }
  }
  if (!any) return expr;
  const DimExpr scaled = expr * DimExpr::constant(scale);
  DimExpr sum;
  for (const Term& term : scaled.terms()) {
    DimExpr replaced = DimNormaliser::single(term);
    for (const Factor& factor : term.factors) {
      if (!factor.opaque || (factor.opaque->op != DimOp::FloorDiv && factor.opaque->op != DimOp::CeilDiv))
        continue;
      const DimOpaque& division = *factor.opaque;
      const auto others = withoutFactors(term.factors, {&factor, 1});
      const auto part = dividesExactly(DimNormaliser::single({term.coefficient, *others}), division.b);
      if (!part) continue;
      // ceil_div(a, b) = -floor_div(-a, b)
      const bool up = division.op == DimOp::CeilDiv;
      const DimExpr dividend = up ? DimExpr() - division.a : division.a;
      const DimExpr product = *part * (dividend - canonical(floorMod(dividend, division.b)));
      replaced = up ? DimExpr() - product : product;
      break;
    }
    sum = sum + replaced;
  }
  return sum.isTooLarge() ? expr : sum;
}

bool DimProver::proveWith(const DimExpr& expr, const DimExpr& fact, Effort& effort) const {
  // expr >= 0 follows when alpha * expr - beta * fact >= 0, with alpha, beta > 0 chosen so
  // that a term of the two cancels.
  for (const Term& mine : expr.terms()) {
    if (mine.factors.empty()) continue;
    for (const Term& theirs : fact.terms()) {
      if (DimNormaliser::compare(mine.factors, theirs.factors) != 0) continue;
      if ((mine.coefficient < 0) != (theirs.coefficient < 0)) continue;
      if (mine.coefficient == INT64_MIN || theirs.coefficient == INT64_MIN) continue;
      const int64_t common = std::gcd(mine.coefficient, theirs.coefficient);
      const DimExpr alpha = DimExpr::constant(std::abs(theirs.coefficient) / common);
      const DimExpr beta = DimExpr::constant(std::abs(mine.coefficient) / common);
      const DimExpr rest = alpha * expr - beta * fact;
      if (rest.isTooLarge()) continue;
      if (prove(rest, effort)) return true;
    }
  }
  return false;
}

bool DimProver::prove(const DimExpr& expr, Effort& effort) const {
  if (effort.attempts-- <= 0) return false;
  if (const auto value = expr.asConstant()) return *value >= 0;
  if (interval(expr).low >= 0) return true;
  const DimExpr flat = withoutDivisions(expr);
  if (flat != expr && interval(flat).low >= 0) return true;

  // A common factor: x * rest
  if (flat.terms().size() > 1) {
    for (const Factor& factor : flat.terms()[0].factors) {
      const auto rest = dividesExactly(flat, DimNormaliser::atom(factor));
      if (!rest) continue;
      const DimInterval sign = interval(factor);
      if (sign.low >= 0 && prove(*rest, effort)) return true;
      if (sign.high <= 0 && prove(DimExpr() - *rest, effort)) return true;
    }
  }

  if (effort.combinations > 0) {
    --effort.combinations;
    bool proven = false;
    // Only a fact about the same symbols has a term that cancels.
    for (uint32_t index : knowledge_.factsAbout(flat)) {
      if (proven || effort.attempts <= 0) break;
      const DimKnowledge::Fact& fact = knowledge_.facts_[index];
      if (fact.holds && fact.kind == DimKnowledge::Fact::Kind::NonNegative)
        proven = proveWith(flat, withoutDivisions(fact.expr), effort);
    }
    for (size_t i = 0; i < effort.assumed.size() && !proven; ++i) {
      const DimExpr fact = effort.assumed[i];
      proven = proveWith(flat, fact, effort);
    }
    ++effort.combinations;
    if (proven) return true;
  }

  // min(a, b) is a where a <= b, and b where b <= a
  if (effort.splits == 0) return false;
  for (const Term& term : flat.terms())
    for (const Factor& factor : term.factors) {
      if (!factor.opaque || (factor.opaque->op != DimOp::Min && factor.opaque->op != DimOp::Max)) continue;
      const DimExpr lower = factor.opaque->op == DimOp::Min ? factor.opaque->a : factor.opaque->b;
      const DimExpr upper = factor.opaque->op == DimOp::Min ? factor.opaque->b : factor.opaque->a;
      --effort.splits;
      bool proven = true;
      for (const bool first : {true, false}) {
        const DimExpr& value = first ? factor.opaque->a : factor.opaque->b;
        DimExpr replaced;
        for (const Term& other : flat.terms()) {
          DimExpr product = DimExpr::constant(other.coefficient);
          for (const Factor& each : other.factors)
            product =
                product * (DimNormaliser::compare(each, factor) == 0 ? value : DimNormaliser::atom(each));
          replaced = replaced + product;
        }
        effort.assumed.push_back(first ? upper - lower : lower - upper);
        proven = !replaced.isTooLarge() && prove(replaced, effort);
        effort.assumed.pop_back();
        if (!proven) break;
      }
      ++effort.splits;
      return proven;
    }
  return false;
}

bool DimProver::isNonNegative(const DimExpr& expr) const {
  Effort effort;
  return prove(canonical(expr), effort);
}

Truth DimProver::isZero(const DimExpr& difference) const {
  const DimExpr expr = canonical(difference);
  if (const auto value = expr.asConstant()) return *value == 0 ? Truth::True : Truth::False;
  if (!interval(expr).contains(0)) return Truth::False;
  const DimCongruence values = congruence(expr);
  if (values.modulus == 0 ? values.residue != 0 : values.residue % values.modulus != 0) return Truth::False;
  const DimExpr flat = withoutDivisions(expr);
  if (flat.isZero()) return Truth::True;
  const DimExpr negated = DimExpr() - expr;
  for (uint32_t index : knowledge_.factsAbout(expr)) {
    const DimKnowledge::Fact& fact = knowledge_.facts_[index];
    if (fact.holds && fact.kind == DimKnowledge::Fact::Kind::NonZero &&
        (fact.expr == expr || fact.expr == negated))
      return Truth::False;
  }
  if (isNonNegative(expr)) {
    if (isNonNegative(negated)) return Truth::True;
    return isNonNegative(expr - one()) ? Truth::False : Truth::Unknown;
  }
  return isNonNegative(negated - one()) ? Truth::False : Truth::Unknown;
}

}  // namespace baton

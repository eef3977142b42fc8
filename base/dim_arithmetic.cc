// Arithmetic on dim expressions: merging of terms, and the rewrites of opaque operations.
// A rewrite is applied only where it is exact for all integers.
#include <algorithm>
#include <numeric>

#include "base/checked_math.h"
#include "base/dim.h"
#include "base/dim_normaliser.h"

namespace baton {

namespace {

using Term = DimExpr::Term;
using Factor = DimExpr::Factor;

/// Sorts, adds up terms with equal factors and drops zeros; false on overflow.
bool mergeTerms(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return DimNormaliser::compare(a.factors, b.factors) < 0; });
  std::vector<Term> merged;
  for (size_t i = 0; i < terms.size();) {
    Term sum = std::move(terms[i]);
    for (++i; i < terms.size() && DimNormaliser::compare(sum.factors, terms[i].factors) == 0; ++i) {
      const auto total = checkedAdd(sum.coefficient, terms[i].coefficient);
      if (!total) return false;
      sum.coefficient = *total;
    }
    if (sum.coefficient != 0) merged.push_back(std::move(sum));
  }
  terms = std::move(merged);
  return true;
}

/// a + sign * b in one pass over both.
DimExpr combine(const DimExpr& a, const DimExpr& b, int64_t sign, char tag) {
  const auto left = a.terms();
  const auto right = b.terms();
  std::vector<Term> sum;
  sum.reserve(left.size() + right.size());
  size_t i = 0;
  size_t j = 0;
  while (i < left.size() || j < right.size()) {
    std::strong_ordering order = std::strong_ordering::equal;
    if (i == left.size())
      order = std::strong_ordering::greater;
    else if (j == right.size())
      order = std::strong_ordering::less;
    else
      order = DimNormaliser::compare(left[i].factors, right[j].factors);
    if (order < 0) {
      sum.push_back(left[i++]);
      continue;
    }
    const auto signedRight = checkedMul(right[j].coefficient, sign);
    if (!signedRight) return DimNormaliser::tooLarge(tag, a, b);
    if (order > 0) {
      sum.push_back({*signedRight, right[j++].factors});
      continue;
    }
    const auto total = checkedAdd(left[i].coefficient, *signedRight);
    if (!total) return DimNormaliser::tooLarge(tag, a, b);
    if (*total != 0) sum.push_back({*total, left[i].factors});
    ++i;
    ++j;
  }
  return DimNormaliser::make(std::move(sum), tag, a, b);
}

/// The terms with factors, and the constant term apart.
struct Split {
  std::vector<Term> variable;
  int64_t constant = 0;

  explicit Split(const DimExpr& expr) {
    for (const Term& term : expr.terms())
      if (term.factors.empty())
        constant = term.coefficient;
      else
        variable.push_back(term);
  }

  DimExpr join() const {
    std::vector<Term> terms = variable;
    if (constant != 0) terms.push_back({constant, {}});
    return DimNormaliser::make(std::move(terms), 'j', {}, {});
  }

  void dropZeros() {
    std::erase_if(variable, [](const Term& term) { return term.coefficient == 0; });
  }

  int64_t commonDivisorWith(int64_t divisor) const {
    for (const Term& term : variable) divisor = std::gcd(divisor, term.coefficient);
    return divisor;
  }
};

/// `k * op(x, m)` with a constant m, as the only factor of a term.
struct ConstantOperation {
  const DimOpaque* operation = nullptr;
  int64_t second = 0;
};

ConstantOperation constantOperation(const Term& term, DimOp op) {
  if (term.factors.size() != 1 || !term.factors[0].opaque || term.factors[0].opaque->op != op) return {};
  const auto second = term.factors[0].opaque->b.asConstant();
  if (!second || *second <= 0) return {};
  return {term.factors[0].opaque.get(), *second};
}

/// Whether `rest` is k * floor_mod(x, m) + constant and so lies within [0, divisor) always.
bool liesBelow(const Split& rest, int64_t divisor) {
  if (rest.variable.size() != 1 || rest.variable[0].coefficient < 0 || rest.constant < 0) return false;
  const ConstantOperation modulo = constantOperation(rest.variable[0], DimOp::FloorMod);
  if (!modulo.operation) return false;
  const auto most = checkedMul(rest.variable[0].coefficient, modulo.second - 1);
  const auto sum = most ? checkedAdd(*most, rest.constant) : std::nullopt;
  return sum && *sum < divisor;
}

}  // namespace

std::vector<DimExpr> operandsOf(DimOp op, const DimExpr& expr) {
  std::vector<DimExpr> out;
  std::vector<DimExpr> stack{expr};
  while (!stack.empty()) {
    const DimExpr top = std::move(stack.back());
    stack.pop_back();
    const DimOpaque* opaque = top.asOpaque();
    if (opaque && opaque->op == op) {
      stack.push_back(opaque->a);
      stack.push_back(opaque->b);
    } else {
      out.push_back(top);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

DimExpr operator+(const DimExpr& a, const DimExpr& b) {
  if (a.isZero()) return b;
  if (b.isZero()) return a;
  return combine(a, b, 1, '+');
}

DimExpr operator-(const DimExpr& a, const DimExpr& b) {
  if (b.isZero()) return a;
  return combine(a, b, -1, '-');
}

DimExpr operator*(const DimExpr& a, const DimExpr& b) {
  if (a.isZero() || b.isZero()) return {};
  if (a.terms().size() * b.terms().size() > kMaxDimSize) return DimNormaliser::tooLarge('*', a, b);
  std::vector<Term> product;
  product.reserve(a.terms().size() * b.terms().size());
  for (const Term& left : a.terms())
    for (const Term& right : b.terms()) {
      const auto coefficient = checkedMul(left.coefficient, right.coefficient);
      if (!coefficient) return DimNormaliser::tooLarge('*', a, b);
      Term term{*coefficient, {}};
      term.factors.reserve(left.factors.size() + right.factors.size());
      std::merge(left.factors.begin(), left.factors.end(), right.factors.begin(), right.factors.end(),
                 std::back_inserter(term.factors),
                 [](const Factor& x, const Factor& y) { return DimNormaliser::compare(x, y) < 0; });
      product.push_back(std::move(term));
    }
  if (!mergeTerms(product)) return DimNormaliser::tooLarge('*', a, b);
  return DimNormaliser::make(std::move(product), '*', a, b);
}

/// floor_div(a, divisor), divisor > 0. With a = divisor*q + r the quotient q comes out.
DimExpr DimNormaliser::divide(const DimExpr& a, int64_t divisor) {
  Split rest(a);
  Split quotient{DimExpr()};
  for (Term& term : rest.variable) {
    if (term.coefficient / divisor != 0)
      quotient.variable.push_back({term.coefficient / divisor, term.factors});
    term.coefficient %= divisor;
  }
  rest.dropZeros();
  quotient.constant = floorQuotient(rest.constant, divisor);
  rest.constant -= quotient.constant * divisor;
  const DimExpr out = quotient.join();
  if (rest.variable.empty()) return out;

  const int64_t common = rest.commonDivisorWith(divisor);
  divisor /= common;
  for (Term& term : rest.variable) term.coefficient /= common;
  rest.constant = floorQuotient(rest.constant, common);
  if (divisor == 1) return out + rest.join();
  if (liesBelow(rest, divisor)) return out;

  // floor_div(floor_div(x, p) + c, q) = floor_div(x + c*p, p*q)
  if (rest.variable.size() == 1 && rest.variable[0].coefficient == 1) {
    const ConstantOperation inner = constantOperation(rest.variable[0], DimOp::FloorDiv);
    const auto offset = inner.operation ? checkedMul(rest.constant, inner.second) : std::nullopt;
    const auto both = inner.operation ? checkedMul(inner.second, divisor) : std::nullopt;
    if (offset && both) {
      const DimExpr numerator = inner.operation->a + DimExpr::constant(*offset);
      if (!numerator.isTooLarge() || inner.operation->a.isTooLarge()) return out + divide(numerator, *both);
    }
  }
  return out + keep(DimOp::FloorDiv, rest.join(), DimExpr::constant(divisor));
}

/// floor_mod(a, divisor), divisor > 0.
DimExpr DimNormaliser::modulo(const DimExpr& a, int64_t divisor) {
  // k * floor_mod(x, m) = k * x modulo any divisor of k*m
  DimExpr flat = a;
  for (const Term& term : a.terms()) {
    const ConstantOperation inner = constantOperation(term, DimOp::FloorMod);
    const auto span = inner.operation ? checkedMul(term.coefficient, inner.second) : std::nullopt;
    if (!span || *span % divisor != 0) continue;
    const DimExpr coefficient = DimExpr::constant(term.coefficient % divisor);
    const DimExpr replaced = flat - single(term) + coefficient * inner.operation->a;
    if (!replaced.isTooLarge() || a.isTooLarge()) flat = replaced;
  }
  Split rest(flat);
  for (Term& term : rest.variable) term.coefficient %= divisor;
  rest.dropZeros();
  rest.constant -= floorQuotient(rest.constant, divisor) * divisor;
  if (rest.variable.empty()) return DimExpr::constant(rest.constant);

  // floor_mod(g*x + c, g*d) = g * floor_mod(x + floor_div(c, g), d) + floor_mod(c, g)
  const int64_t common = rest.commonDivisorWith(divisor);
  divisor /= common;
  const int64_t low = rest.constant % common;
  for (Term& term : rest.variable) term.coefficient /= common;
  rest.constant /= common;
  DimExpr high;
  if (divisor != 1) {
    const DimExpr joined = rest.join();
    high = liesBelow(rest, divisor) ? joined : keep(DimOp::FloorMod, joined, DimExpr::constant(divisor));
  }
  return DimExpr::constant(common) * high + DimExpr::constant(low);
}

DimExpr DimNormaliser::extreme(DimOp op, const DimExpr& a, const DimExpr& b) {
  std::vector<DimExpr> operands = operandsOf(op, a);
  for (DimExpr& operand : operandsOf(op, b)) operands.push_back(std::move(operand));
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  if (operands.size() > kMaxDimDepth) return tooLarge(static_cast<char>(op), a, b);
  std::vector<DimExpr> kept;
  for (const DimExpr& operand : operands) {
    bool needed = true;
    for (size_t i = 0; i < kept.size() && needed;) {
      const auto difference = (operand - kept[i]).asConstant();
      if (!difference) {
        ++i;
      } else if ((op == DimOp::Min) == (*difference < 0)) {
        kept.erase(kept.begin() + static_cast<ptrdiff_t>(i));
      } else {
        needed = false;
      }
    }
    if (needed) kept.push_back(operand);
  }
  DimExpr result = kept.back();
  for (size_t i = kept.size() - 1; i-- > 0;) result = keep(op, kept[i], result);
  return result;
}

DimExpr DimExpr::opaque(DimOp op, const DimExpr& a, const DimExpr& b) {
  const auto left = a.asConstant();
  const auto right = b.asConstant();
  if (left && right && op != DimOp::TooLarge) {
    if (const auto value = applyDimOp(op, *left, *right)) return constant(*value);
    return DimNormaliser::keep(op, a, b);
  }
  switch (op) {
    case DimOp::FloorDiv:
    case DimOp::FloorMod:
    case DimOp::CeilDiv: {
      if (!right || *right == 0 || *right == INT64_MIN) break;
      const int64_t divisor = *right < 0 ? -*right : *right;
      const DimExpr dividend = *right < 0 ? DimExpr() - a : a;
      DimExpr result;
      if (op == DimOp::FloorDiv) {
        result = DimNormaliser::divide(dividend, divisor);
      } else if (op == DimOp::CeilDiv) {
        result = DimNormaliser::divide(dividend + constant(divisor - 1), divisor);
      } else {
        result = DimNormaliser::modulo(dividend, divisor);
        if (*right < 0) result = DimExpr() - result;
      }
      // Near the limits of int64 the rewrites may not fit where the operation itself does.
      if (result.isTooLarge() && !a.isTooLarge()) break;
      return result;
    }
    case DimOp::Min:
    case DimOp::Max: return DimNormaliser::extreme(op, a, b);
    case DimOp::TooLarge: break;
  }
  return DimNormaliser::keep(op, a, b);
}

std::optional<int64_t> applyDimOp(DimOp op, int64_t a, int64_t b) {
  switch (op) {
    case DimOp::Min: return std::min(a, b);
    case DimOp::Max: return std::max(a, b);
    case DimOp::TooLarge: return std::nullopt;
    case DimOp::FloorDiv:
    case DimOp::FloorMod:
    case DimOp::CeilDiv: break;
  }
  if (b == 0) return std::nullopt;
  if (b == -1) {
    if (op == DimOp::FloorMod) return 0;
    return checkedSub<int64_t>(0, a);
  }
  const int64_t quotient = a / b;
  const int64_t remainder = a % b;
  const bool towardsZeroIsUp = remainder != 0 && (remainder < 0) != (b < 0);  // exact quotient negative
  if (op == DimOp::FloorDiv) return quotient - (towardsZeroIsUp ? 1 : 0);
  if (op == DimOp::CeilDiv) return quotient + (remainder != 0 && !towardsZeroIsUp ? 1 : 0);
  return towardsZeroIsUp ? remainder + b : remainder;
}

}  // namespace baton

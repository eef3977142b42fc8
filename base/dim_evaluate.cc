// What is computed from a dim expression: substitution, values, text.
#include <algorithm>

#include <fmt/format.h>

#include "base/dim.h"
#include "base/dim_normaliser.h"

namespace baton {

namespace {

using Term = DimExpr::Term;
using Factor = DimExpr::Factor;
using Wide = __int128;
using Assignment = std::function<std::optional<int64_t>(DimSymbol)>;

Error overflow() { return Error(ErrorCode::ProgramError, "dim expression exceeds 64 bits"); }

// 128 bits between: a sum that fits may have partial sums that do not.
Result<Wide> evaluateWide(const DimExpr& expr, const Assignment& f);

Result<Wide> evaluateOperation(const DimOpaque& operation, const Assignment& f) {
  if (operation.op == DimOp::TooLarge)
    return Error(ErrorCode::ProgramError, "dim expression is too large to be evaluated");
  BATON_TRY_ASSIGN(const Wide a, evaluateWide(operation.a, f));
  BATON_TRY_ASSIGN(const Wide b, evaluateWide(operation.b, f));
  if (operation.op == DimOp::Min) return std::min(a, b);
  if (operation.op == DimOp::Max) return std::max(a, b);
  if (b == 0)
    return Error(ErrorCode::ProgramError,
                 fmt::format("{} by zero in a dim expression", dimOpName(operation.op)));
  // |a| and |b| are below 2^127 by far (each is the checked sum of products): -a exists.
  const Wide remainder = a % b;
  const bool exactIsBelow = remainder != 0 && (remainder < 0) != (b < 0);
  if (operation.op == DimOp::FloorDiv) return a / b - (exactIsBelow ? 1 : 0);
  if (operation.op == DimOp::CeilDiv) return a / b + (remainder != 0 && !exactIsBelow ? 1 : 0);
  return exactIsBelow ? remainder + b : remainder;
}

Result<Wide> evaluateWide(const DimExpr& expr, const Assignment& f) {
  constexpr Wide kLimit = Wide{1} << 125;
  Wide sum = 0;
  for (const Term& term : expr.terms()) {
    Wide product = term.coefficient;
    bool overflowed = false;
    bool zero = false;
    for (const Factor& factor : term.factors) {
      Wide value;
      if (factor.opaque) {
        BATON_TRY_ASSIGN(value, evaluateOperation(*factor.opaque, f));
      } else {
        const std::optional<int64_t> assigned = f(factor.symbol);
        if (!assigned)
          return Error(ErrorCode::InvalidArgument,
                       fmt::format("dim symbol {} has no value", factor.symbol.value()));
        value = *assigned;
      }
      zero |= value == 0;
      overflowed |= __builtin_mul_overflow(product, value, &product);
    }
    if (zero) continue;
    if (overflowed || __builtin_add_overflow(sum, product, &sum) || sum > kLimit || sum < -kLimit)
      return overflow();
  }
  return sum;
}

using Naming = std::function<std::string(DimSymbol)>;

std::string printOperation(const DimOpaque& operation, const Naming& name) {
  // floor_div(x + (c - 1), c) is how ceil_div(x, c) is kept
  if (operation.op == DimOp::FloorDiv) {
    const auto divisor = operation.b.asConstant();
    const auto all = operation.a.terms();
    if (divisor && *divisor > 1 && !all.empty() && all.back().factors.empty() &&
        all.back().coefficient == *divisor - 1)
      return fmt::format("ceil_div({}, {})", (operation.a - DimExpr::constant(*divisor - 1)).print(name),
                         *divisor);
  }
  return fmt::format("{}({}, {})", dimOpName(operation.op), operation.a.print(name), operation.b.print(name));
}

std::string printFactors(const Term& term, const Naming& name) {
  std::string text;
  for (const Factor& factor : term.factors) {
    if (!text.empty()) text += '*';
    text += factor.opaque ? printOperation(*factor.opaque, name) : name(factor.symbol);
  }
  return text;
}

}  // namespace

Result<int64_t> DimExpr::evaluate(const std::function<std::optional<int64_t>(DimSymbol)>& f) const {
  BATON_TRY_ASSIGN(const Wide value, evaluateWide(*this, f));
  if (value > INT64_MAX || value < INT64_MIN) return overflow();
  return static_cast<int64_t>(value);
}

DimExpr DimExpr::substitute(const std::function<std::optional<DimExpr>(DimSymbol)>& f) const {
  DimExpr sum;
  for (const Term& term : terms()) {
    DimExpr product = constant(term.coefficient);
    for (const Factor& factor : term.factors) {
      if (factor.opaque) {
        const DimOpaque& inner = *factor.opaque;
        product = product * opaque(inner.op, inner.a.substitute(f), inner.b.substitute(f));
      } else {
        const std::optional<DimExpr> replacement = f(factor.symbol);
        product = product * (replacement ? *replacement : symbol(factor.symbol));
      }
    }
    sum = sum + product;
  }
  if (!sum.isTooLarge() || isTooLarge()) return sum;
  // Parts of a number may not fit 64 bits where the whole does.
  const Result<int64_t> number = evaluate([&](DimSymbol symbol) {
    const std::optional<DimExpr> replacement = f(symbol);
    return replacement ? replacement->asConstant() : std::nullopt;
  });
  return number ? constant(number.assume_value()) : sum;
}

std::string DimExpr::print(const std::function<std::string(DimSymbol)>& name) const {
  if (isZero()) return "0";
  // A positive term first, so that the text rarely begins with a minus.
  std::vector<const Term*> ordered;
  for (const Term& term : terms()) ordered.push_back(&term);
  const auto positive =
      std::find_if(ordered.begin(), ordered.end(), [](const Term* t) { return t->coefficient > 0; });
  if (positive != ordered.end()) std::rotate(ordered.begin(), positive, positive + 1);
  std::string text;
  for (const Term* term : ordered) {
    const bool negative = term->coefficient < 0;
    const uint64_t magnitude =
        negative ? 0 - static_cast<uint64_t>(term->coefficient) : static_cast<uint64_t>(term->coefficient);
    if (text.empty())
      text += negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    if (term->factors.empty())
      text += fmt::format("{}", magnitude);
    else if (magnitude == 1)
      text += printFactors(*term, name);
    else
      text += fmt::format("{}*{}", magnitude, printFactors(*term, name));
  }
  return text;
}

}  // namespace baton

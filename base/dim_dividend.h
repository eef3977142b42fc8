// How a division of a dim expression is computed where there are 64 bits and no more.
#pragma once

#include <optional>
#include <type_traits>

#include "base/dim.h"

namespace baton {

/// For floor_div(x + k, c) with constants 0 < k < c: x + k - c, by which the quotient is one less.
/// Computed in 64 bits x + k may not fit where x does (ceil_div(x, c) is kept like that); this does
/// unless x is below every extent or position.
std::optional<DimExpr> loweredDividend(const DimOpaque& operation);

/// A dim expression as operations on whatever stands for a 64-bit value. `Writer` has
///   Value number(int64_t), symbol(DimSymbol), add(Value, Value), multiply(Value, Value),
///   operation(DimOp, Value, Value): a division, Min or Max.
/// The expression is not too large.
template <class Writer>
typename std::decay_t<Writer>::Value writeDim(Writer&& writer, const DimExpr& expr);

template <class Writer>
typename std::decay_t<Writer>::Value writeDimFactor(Writer&& writer, const DimExpr::Factor& factor) {
  if (factor.opaque == nullptr) return writer.symbol(factor.symbol);
  const std::optional<DimExpr> lowered = loweredDividend(*factor.opaque);
  const auto a = writeDim(writer, lowered ? *lowered : factor.opaque->a);
  const auto b = writeDim(writer, factor.opaque->b);
  const auto value = writer.operation(factor.opaque->op, a, b);
  return lowered ? writer.add(value, writer.number(1)) : value;
}

template <class Writer>
typename std::decay_t<Writer>::Value writeDim(Writer&& writer, const DimExpr& expr) {
  using Value = typename std::decay_t<Writer>::Value;
  std::optional<Value> sum;
  for (const DimExpr::Term& term : expr.terms()) {
    std::optional<Value> product;
    if (term.coefficient != 1 || term.factors.empty()) product = writer.number(term.coefficient);
    for (const DimExpr::Factor& factor : term.factors) {
      const Value value = writeDimFactor(writer, factor);
      product = product ? writer.multiply(*product, value) : value;
    }
    sum = sum ? writer.add(*sum, *product) : *product;
  }
  return sum ? *sum : writer.number(0);
}

}  // namespace baton

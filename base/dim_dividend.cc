#include "base/dim_dividend.h"

namespace baton {

std::optional<DimExpr> loweredDividend(const DimOpaque& operation) {
  const std::optional<int64_t> divisor = operation.b.asConstant();
  if (operation.op != DimOp::FloorDiv || !divisor || operation.a.isTooLarge()) return std::nullopt;
  for (const DimExpr::Term& term : operation.a.terms())
    if (term.factors.empty() && term.coefficient > 0 && term.coefficient < *divisor)
      return operation.a - DimExpr::constant(*divisor);
  return std::nullopt;
}

}  // namespace baton

#include "compiler/ir/dim_size.h"

#include <vector>

namespace baton::ir {

size_t sizeOf(const DimExpr& expr) {
  size_t size = 0;
  std::vector<DimExpr> open{expr};
  while (!open.empty()) {
    const DimExpr top = std::move(open.back());
    open.pop_back();
    for (const DimExpr::Term& term : top.terms()) {
      size += 1 + term.factors.size();
      for (const DimExpr::Factor& factor : term.factors)
        if (factor.opaque) open.insert(open.end(), {factor.opaque->a, factor.opaque->b});
    }
  }
  return size;
}

}  // namespace baton::ir

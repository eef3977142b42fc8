#include "compiler/ir/attr_dims.h"

namespace baton::ir {

void forEachDim(const Attrs& attrs, const std::function<void(const DimExpr&)>& f) {
  for (const auto& [name, value] : attrs.entries())
    if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value))
      for (const DimExpr& dim : *dims) f(dim);
}

void mapDims(Attrs& attrs, const std::function<DimExpr(const DimExpr&)>& f) {
  Attrs mapped = attrs;
  for (const auto& [name, value] : attrs.entries())
    if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value)) {
      std::vector<DimExpr> changed;
      for (const DimExpr& dim : *dims) changed.push_back(f(dim));
      mapped.set(name, std::move(changed));
    }
  attrs = std::move(mapped);
}

}  // namespace baton::ir

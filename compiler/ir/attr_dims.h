// The extents in attributes: in lists like `newshape`.
#pragma once

#include <functional>

#include "compiler/ir/attrs.h"

namespace baton::ir {

void forEachDim(const Attrs& attrs, const std::function<void(const DimExpr&)>& f);

/// Puts `f(dim)` in the place of each.
void mapDims(Attrs& attrs, const std::function<DimExpr(const DimExpr&)>& f);

}  // namespace baton::ir

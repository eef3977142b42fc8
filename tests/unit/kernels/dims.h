// Symbols of kernels in tests.
#pragma once

#include "base/dim.h"

namespace baton {

inline DimExpr sym(uint32_t index) { return DimExpr::symbol(DimSymbol(index)); }

}  // namespace baton

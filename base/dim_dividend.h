// How a division of a dim expression is computed where there are 64 bits and no more.
#pragma once

#include <optional>

#include "base/dim.h"

namespace baton {

/// For floor_div(x + k, c) with constants 0 < k < c: x + k - c, by which the quotient is one less.
/// Computed in 64 bits x + k may not fit where x does (ceil_div(x, c) is kept like that); this does
/// unless x is below every extent or position.
std::optional<DimExpr> loweredDividend(const DimOpaque& operation);

}  // namespace baton

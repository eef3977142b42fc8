// Extents of types in text, as signatures show them: "n", "2*n + 1", "floor_div(n, 2)".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/dim.h"
#include "base/error.h"

namespace baton {

/// What DimExpr::print writes, spaces between tokens being free. A name is the symbol whose number is
/// its place in `names`, to which it is added where it is not there. Malformed for any other text.
Result<DimExpr> parseExtent(std::string_view text, std::vector<std::string>& names);

}  // namespace baton

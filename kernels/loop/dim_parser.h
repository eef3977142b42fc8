// Dim expressions in loop-IR text, over the symbols that the kernel has declared.
#pragma once

#include <functional>
#include <optional>

#include "base/dim.h"
#include "base/error.h"
#include "kernels/loop/token_stream.h"

namespace baton::loop {

using SymbolLookup = std::function<std::optional<DimSymbol>(std::string_view)>;

/// Sums of products of integers, symbols, `floor_div(a, b)` and its like, and parentheses.
Result<DimExpr> parseDim(TokenStream& tokens, const SymbolLookup& symbols);

}  // namespace baton::loop

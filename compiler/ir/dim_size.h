// How large extents may become in types before they get symbols of their own.
#pragma once

#include <cstddef>

#include "base/dim.h"

namespace baton::ir {

/// Terms and factors, those inside of operations included.
size_t sizeOf(const DimExpr& expr);

/// What the extents of a tensor may measure together, about as much as those of a reshape to a shape of rank
/// 3 of which nothing is known. An operator that makes a few times as much of its operands' extents, in its
/// result and in what it checks, stays within what a dim can be.
inline constexpr size_t kMaxExtentsSize = 320;

/// What a symbol is replaced by when a name is resolved or a function put in line: whatever mentions the
/// symbol grows by that.
inline constexpr size_t kMaxReplacementSize = 32;

}  // namespace baton::ir

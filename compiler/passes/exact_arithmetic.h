// What of the arithmetic of elements gives the same bits in another way.
#pragma once

#include <cstdint>
#include <optional>

#include "base/dtype.h"

namespace baton::passes {

/// Whether cast(cast(x: source, through), to) is cast(x, to).
bool castsOnce(DType source, DType through, DType to);

/// The reciprocal of a power of two, when both are normal; dividing by the one is then
/// multiplying by the other.
std::optional<uint64_t> exactReciprocal(DType dtype, uint64_t bits);

}  // namespace baton::passes

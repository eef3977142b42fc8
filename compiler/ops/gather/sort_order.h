// The order in which `sort` puts elements, which other operators expect.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace baton::ops {

/// On bits of scalars. NaN is greater than all numbers.
bool isSortedBefore(DType dtype, uint64_t a, uint64_t b);

}  // namespace baton::ops

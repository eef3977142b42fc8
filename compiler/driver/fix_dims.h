// Fixes named extents of entry points before typing: `--dim n=128`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "compiler/ir/ir.h"

namespace baton::driver {

/// InvalidArgument when no exported function has such a name, or the extent is negative.
Result<void> fixDims(std::span<const std::pair<std::string, int64_t>> dims, ir::Module& module);

}  // namespace baton::driver

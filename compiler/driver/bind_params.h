// Gives `param @w : T = "key"` its value from a weights file.
#pragma once

#include <span>

#include "base/error.h"
#include "compiler/driver/compile.h"

namespace baton::driver {

/// Params that no file has stay external; if there are files, with a warning. A value of another dtype
/// or shape is a diagnostic; a file that cannot be read is an error.
Result<void> bindParams(std::span<const Params> files, ir::Module& module,
                        frontend::Diagnostics& diagnostics);

}  // namespace baton::driver

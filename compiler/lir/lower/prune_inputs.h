// Inputs that a kernel does not read: a tensor that only said what shape to make, say.
#pragma once

#include <vector>

#include "kernels/loop/kernel.h"

namespace baton::lir {

/// Takes inputs out that nothing reads and no symbol takes its value from. By former input:
/// whether it is gone.
std::vector<bool> pruneInputs(loop::Kernel& kernel);

}  // namespace baton::lir

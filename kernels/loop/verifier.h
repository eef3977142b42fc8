// The rules of loop IR. A verified kernel can be interpreted and compiled without further
// checks, save the bounds of indices, which the interpreter checks as it runs.
#pragma once

#include "base/error.h"
#include "kernels/loop/kernel.h"

namespace baton::loop {

/// ErrorCode::VerifyFailed and a message that names kernel, node and rule.
Result<void> verify(const Kernel& kernel);

}  // namespace baton::loop

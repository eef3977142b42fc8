// The rules of the low-level form, in SSA and before register allocation.
#pragma once

#include "base/error.h"
#include "compiler/lir/lir.h"

namespace baton::lir {

/// ErrorCode::Internal and a message that names function, block, instruction and rule: a
/// function that breaks a rule is a defect of whoever made it. References to the module's
/// tables are checked where the module has the table.
Result<void> verify(const Module& module, const Function& function);
Result<void> verify(const Module& module);

}  // namespace baton::lir

// The first pass: what program text says that is not for this compiler goes.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Drops the attribute Primitive, with which dumps of other compilers mark the kernels that
/// they made: here fusion decides what is one kernel.
Result<void> prepare(ir::Module& module, PassContext& context);

}  // namespace baton::passes

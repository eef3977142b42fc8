// Drops functions that no exported one can reach.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Functions stay in order; constants that only dropped functions used are dropped too.
Result<void> dropDeadFunctions(ir::Module& module, PassContext& context);

}  // namespace baton::passes

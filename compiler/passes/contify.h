// Contification: local functions that all callers leave by calling become joins, and
// functions that call themselves last become loops.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// A local function that is only called, always in tail position, becomes a join; one that
/// is called from a single place outside itself moves there first, into a block of its own
/// where needed. Local functions that nobody calls are dropped.
Result<void> contify(ir::Module& module, PassContext& context);

/// Self tail calls of functions of the module become jumps to a loop join. Parameters that
/// every such call passes on stay outside of the loop, and so do extents that it keeps.
Result<void> makeLoops(ir::Module& module, PassContext& context);

}  // namespace baton::passes

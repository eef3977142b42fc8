// Dead code: bindings whose value nobody uses.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Drops bindings whose variable is not used and that write no cell; an operation that can
/// fail goes, too, and so does a whole branch. Parameters of joins that nothing but their
/// own jumps uses go with the arguments. Checks of their own stay.
Result<void> dropDeadCode(ir::Module& module, PassContext& context);

}  // namespace baton::passes

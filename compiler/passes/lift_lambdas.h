// Lambda lifting: local functions that are only called become functions of the module.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// What such a function uses from outside comes first in its parameters: variables, and for
/// an extent that none of them has, the variable that has it. A local function that is left
/// afterwards is a value somewhere.
Result<void> liftLambdas(ir::Module& module, PassContext& context);

}  // namespace baton::passes

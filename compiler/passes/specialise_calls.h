// Copies of functions for what is known of the arguments of a call.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// A call that passes a function which is known - one of the module, or a local one - or a
/// constant to a parameter that is used as a weight, calls a copy made for it: the function
/// is called directly there, its captures are ordinary parameters, the weight is a constant.
/// Calls that are alike share a copy, recursive ones included.
Result<void> specialiseCalls(ir::Module& module, PassContext& context);

}  // namespace baton::passes

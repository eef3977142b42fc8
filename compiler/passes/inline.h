// Inlining: calls of small functions, and of functions with one caller, become their bodies.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Recursive functions are not inlined. Extents of the callee become those of the
/// arguments; its other symbols are new for each copy. Obligations of the call become a
/// check before the body.
Result<void> inlineCalls(ir::Module& module, PassContext& context);

/// Makes a copy of a callee's body in the caller. `prologue` gets the bindings that go
/// before it: parameters as aliases of the arguments.
ir::BlockId cloneBody(ir::Module& module, ir::GlobalId callee, ir::Function& caller,
                      const std::vector<ir::Atom>& arguments, SourceLocation location,
                      std::vector<ir::Binding>& prologue);

}  // namespace baton::passes

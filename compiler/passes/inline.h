// Copies of function bodies in the place of calls.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// Makes a copy of a callee's body in the caller. `prologue` gets the bindings that go
/// before it: parameters as aliases of the arguments.
ir::BlockId cloneBody(ir::Module& module, ir::GlobalId callee, ir::Function& caller,
                      const std::vector<ir::Atom>& arguments, SourceLocation location,
                      std::vector<ir::Binding>& prologue);

}  // namespace baton::passes

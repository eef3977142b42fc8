// Types for a whole program: structure, specialisation, dims.
#pragma once

#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"

namespace baton::types {

/// Gives every variable of a parsed module its type and every binding its run-time
/// checks. Functions that no exported one reaches are dropped; polymorphic ones are
/// replaced by one copy per instantiation. The module is usable when there are no errors.
void inferTypes(ir::Module& module, frontend::Diagnostics& diagnostics);

}  // namespace baton::types

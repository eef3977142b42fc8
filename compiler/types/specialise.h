// Makes one copy of every polymorphic function per instantiation that the exported
// functions reach, drops what they do not reach, and gives every variable its structural
// type: extents are all `?` until dims are inferred.
#pragma once

#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"
#include "compiler/types/structure.h"

namespace baton::types {

/// After this no type variables are left, and operator arguments that were tuples are
/// lists of tensors.
void specialise(ir::Module& module, Structure& structure, frontend::Diagnostics& diagnostics);

}  // namespace baton::types

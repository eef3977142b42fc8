// Matches: whether the clauses cover every value, and whether each can be reached.
#pragma once

#include "compiler/frontend/diagnostic.h"
#include "compiler/ir/ir.h"
#include "compiler/types/structure.h"

namespace baton::types {

/// A `match` that misses a case is an error that lists missing ones; a clause that earlier
/// ones cover is a warning. The module must be well typed, as `structure` says.
void checkMatches(const ir::Module& module, Structure& structure, frontend::Diagnostics& diagnostics);

}  // namespace baton::types

// Match compilation: nested, tuple and variable patterns become decision trees of flat
// matches, each of which looks at one tag.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Afterwards each clause of a match is a constructor over variables and wildcards, no
/// constructor twice, or a last wildcard. A match is incomplete exactly when a value that it
/// does not cover is a program error. Tuples are taken apart with Project; a clause body
/// that several leaves share is a join. Clauses are tried in the order of the program text.
Result<void> flattenMatches(ir::Module& module, PassContext& context);

}  // namespace baton::passes

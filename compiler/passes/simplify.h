// What can be said of a program by looking at it once, in order: aliases, known tuples and
// constructors, known conditions, constants, repeated operators.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Uses of aliases become uses of what they stand for; fields of known tuples and clauses of
/// known constructors are taken directly; branches of known conditions, joins with one jump
/// and blocks without joins are put in line. Obligations that hold for certain go.
Result<void> propagate(ir::Module& module, PassContext& context);

/// Also runs operators on constants with their reference versions. An operation that fails
/// stays where it is, and a result that is larger than its operands (small ones aside) is
/// not stored.
Result<void> foldConstants(ir::Module& module, PassContext& context);

/// Also replaces an operator by an earlier one in scope with the same operands.
Result<void> eliminateCommon(ir::Module& module, PassContext& context);

}  // namespace baton::passes

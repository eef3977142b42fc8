// Fusion: chains of operators become functions with attribute Primitive, one kernel each.
#pragma once

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Groups operators of a block with what consumes them: elementwise, broadcasting and
/// injective ones with any consumer that takes them in; reductions with the elementwise
/// operators that follow, rows broadcast back included; matrix products with elementwise
/// operators of their shape. A value that is also used elsewhere is a further result. What
/// has no kernel (ops/direct.h) and what finds out extents stays outside. Obligations are
/// checked where they were, before the group. The bits are those of the operators one by one.
Result<void> fuse(ir::Module& module, PassContext& context);

}  // namespace baton::passes

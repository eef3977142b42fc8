// From typed, lowered IR (flat matches, joins, monomorphic) to low-level form in SSA.
#pragma once

#include "base/error.h"
#include "compiler/ir/ir.h"
#include "compiler/lir/lir.h"

namespace baton::lir {

/// Lowers everything that exported functions reach. Takes the bytes of constants out of the
/// IR. On failure `*where` is the place in the program text that it is about: CompileError and
/// Unsupported are the program's affair, anything else is a defect.
Result<Module> lower(ir::Module& source, SourceLocation* where);

}  // namespace baton::lir

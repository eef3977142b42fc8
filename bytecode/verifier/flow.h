// Kinds of registers on every path through a function, and the rules that depend on them.
#pragma once

#include "bytecode/program.h"
#include "bytecode/verifier/reporter.h"
#include "bytecode/verifier/shared_tables.h"
#include "bytecode/verifier/structure.h"

namespace baton::bytecode {

/// The function's form keeps the rules, and so do the program's tables.
void checkFlow(const Program& program, FunctionIndex index, const FunctionStructure& structure,
               SharedTables& tables, Reporter& reporter);

}  // namespace baton::bytecode

// Rules of everything but code.
#pragma once

#include "bytecode/program.h"
#include "bytecode/verifier/reporter.h"

namespace baton::bytecode {

void checkTables(const Program& program, Reporter& reporter);

}  // namespace baton::bytecode

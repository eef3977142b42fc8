// Whether a pass changed anything.
#pragma once

#include <cstdint>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// A hash of all functions of the module: bindings, operands, attributes, types, checks.
/// Equal ones mean that nothing changed (but for chance); names and places in the text do
/// not count. Comparable between states of one module.
uint64_t fingerprint(const ir::Module& module);

}  // namespace baton::passes

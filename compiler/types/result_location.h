// Where the result of a block is, for messages about it.
#pragma once

#include "compiler/ir/ir.h"

namespace baton::types {

/// Where it is made, or where it stands in the text when it was made before; `otherwise` when
/// neither is known.
inline SourceLocation resultLocation(const ir::Function& function, ir::BlockId id, SourceLocation otherwise) {
  const ir::Block& block = function.block(id);
  const bool isMade = !block.bindings.empty() && block.result == ir::Atom(block.bindings.back().var) &&
                      function.var(block.bindings.back().var).name.empty();
  if (isMade && block.bindings.back().location.isKnown()) return block.bindings.back().location;
  return block.resultLocation.isKnown() ? block.resultLocation : otherwise;
}

}  // namespace baton::types

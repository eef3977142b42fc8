// Which blocks of a function end where which others end: what makes a call a tail call.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// Sets of blocks in tail position of one another: branches of an `if` or `match` that is
/// the result of its block, and bodies of joins with the block that defines them. Within a
/// set, a block in the scope of another is in tail position of it.
class TailBlocks {
 public:
  explicit TailBlocks(const ir::Function& function);
  /// `block` lies in `outer` or is it; whether what ends it ends `outer`.
  bool isTailOf(ir::BlockId block, ir::BlockId outer) { return find(block) == find(outer); }
  /// A local function with this body becomes a join of `definer`.
  void addJoin(ir::BlockId body, ir::BlockId definer);

 private:
  uint32_t find(ir::BlockId block);
  std::vector<uint32_t> parent_;
};

/// Whether binding `index` is the last of its block and its variable the block's result.
inline bool isTailBinding(const ir::Block& block, size_t index) {
  return index + 1 == block.bindings.size() && block.result == ir::Atom(block.bindings[index].var);
}

/// Whether the block has joins, which end with it: then it cannot become part of another in mid-block.
bool definesJoin(const ir::Block& block);

/// Makes tails plain to see: drops aliases at the end of blocks, and puts the bindings of
/// nested blocks that are a tail, or that define no join, into the block around them.
void straightenTails(ir::Function& function);

}  // namespace baton::passes

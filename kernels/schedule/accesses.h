// What a part of a kernel reads and writes, and whether the iterations of a loop get in each other's way.
// Private to kernels/schedule.
#pragma once

#include <map>
#include <vector>

#include "kernels/schedule/affine.h"

namespace baton::schedule {

struct Access {
  NodeId node;
  bool isStore;
  std::vector<Affine> indices;
};

/// Loads and stores in a block and those inside of it, by buffer.
std::map<uint32_t, std::vector<Access>> accessesIn(const Editor& editor, BlockId block);

/// Whether two buffers may be the same memory: they are one, or an output takes that of an input.
bool mayShareMemory(const Kernel& kernel, uint32_t a, uint32_t b);

/// Whether a statement may end the kernel with an error.
bool mayFail(const Kernel& kernel, const Node& node);

/// An error that says why the iterations of a loop may not run in any order, or at once.
Result<void> checkIndependent(const Editor& editor, NodeId loop);
/// The same of iterations of which the loops around it, down from `outermost`, are at any iterations, too.
Result<void> checkIndependentIn(const Editor& editor, NodeId loop, NodeId outermost);

}  // namespace baton::schedule

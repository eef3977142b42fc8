// What the body of a parallel loop takes from its surroundings: a function of its own needs it.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/loop/kernel.h"

namespace baton::loop {

/// In order of number. Leaves other than variables of outer loops are no captures.
struct Captures {
  std::vector<NodeId> values;
  std::vector<uint32_t> locals;
};

Captures capturesOf(const Kernel& kernel, const Node& loop);

}  // namespace baton::loop

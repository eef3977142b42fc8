// Cycles through cells, which counting alone does not free.
#pragma once

#include "vm/heap.h"

namespace baton::vm {

/// Trial deletion over the cells that are left: frees those that only their own cycles hold.
/// What registers, suspended calls or other threads hold stays. Takes time in what the cells
/// reach; without the memory that it needs it leaves things as they are.
void collectCycles(Heap& heap);

}  // namespace baton::vm

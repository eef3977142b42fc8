// Values that leave their context: everything reachable becomes shared, in one walk.
#pragma once

#include <cstdint>
#include <vector>

#include "vm/heap.h"
#include "vm/retainable.h"

namespace baton::vm {

enum class ShareOutcome : uint8_t {
  Done,
  NoMemory,   ///< heap.takeFailure() says why
  HoldsCell,  ///< a mutable cell was met, which may not leave
};

/// Sets the shared bit of everything reachable from `root`, a private or shared object that
/// this thread holds. Constants on the way become counted tensors that keep `constants`
/// alive (`root` is replaced when it is one); where there are none it may be null. No recursion; memory only
/// for those tensors. After a failure everything is as usable as before. `path` receives the way to a cell,
/// as slot numbers from the root, at most kMaxSharePath of them.
ShareOutcome share(Heap& heap, Object*& root, const Retainable* constants,
                   std::vector<uint32_t>* path = nullptr);
inline constexpr size_t kMaxSharePath = 16;

}  // namespace baton::vm

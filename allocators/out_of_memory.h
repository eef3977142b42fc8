// The one wording of "there is no more memory".
#pragma once

#include <optional>

#include "allocators/allocator.h"

namespace baton {

/// "cannot allocate 100 bytes: 50 in use, 64 reserved, limit 128"; `cause` is what the layer
/// below said, and gives the error its code (LimitReached stays LimitReached).
Error outOfMemory(size_t askedBytes, const MemoryStatistics& statistics, const Error& cause);
/// The same from a layer that has a limit of its own.
Error limitReached(size_t askedBytes, const MemoryStatistics& statistics, uint64_t limitBytes);

}  // namespace baton

#include "allocators/out_of_memory.h"

#include <fmt/format.h>

namespace baton {

Error outOfMemory(size_t askedBytes, const MemoryStatistics& statistics, const Error& cause) {
  return Error(cause.code(), fmt::format("cannot allocate {} bytes: {} in use, {} reserved ({})", askedBytes,
                                         statistics.inUseBytes, statistics.reservedBytes, cause.message()));
}

Error limitReached(size_t askedBytes, const MemoryStatistics& statistics, uint64_t limitBytes) {
  return Error(ErrorCode::LimitReached,
               fmt::format("cannot allocate {} bytes: {} in use, {} reserved, limit {}", askedBytes,
                           statistics.inUseBytes, statistics.reservedBytes, limitBytes));
}

}  // namespace baton

// Allocator: memory of one device, in blocks. Leaves get it from somewhere (system, arena,
// pool), adaptors wrap another allocator (limiting, statistics, tracking, failing).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/error.h"

namespace baton {

/// Tensors that we allocate start on this boundary.
inline constexpr size_t kTensorAlignment = 64;
/// Chunks that an allocator asks its upstream for start on this boundary: a page of every CPU.
inline constexpr size_t kChunkAlignment = 4096;

struct MemoryStatistics {
  uint64_t inUseBytes = 0;     ///< handed out and not yet given back
  uint64_t reservedBytes = 0;  ///< taken from the layer below
  uint64_t peakInUseBytes = 0;
  uint64_t peakReservedBytes = 0;
  uint64_t allocationCount = 0;
  uint64_t releaseCount = 0;
  uint64_t systemAllocationCount = 0;  ///< requests that reached the system
  uint64_t cacheHitCount = 0;          ///< requests served from memory already reserved
};

/// Thread-safety is stated by each implementation. Alignments are powers of two.
class Allocator {
 public:
  virtual ~Allocator() = default;

  /// At least sizeBytes (which may be 0: a valid pointer that may not be read through),
  /// contents undefined. OutOfMemory or LimitReached say how much was asked, in use,
  /// reserved, and the limit.
  virtual Result<void*> allocate(size_t sizeBytes, size_t alignment) = 0;

  /// Takes back a block with the size and alignment it was asked for.
  virtual void release(void* data, size_t sizeBytes, size_t alignment) noexcept = 0;

  /// Gives unused reserved memory back to the layer below.
  virtual void trim() noexcept {}

  virtual MemoryStatistics statistics() const = 0;

 protected:
  Allocator() = default;
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;
};

}  // namespace baton

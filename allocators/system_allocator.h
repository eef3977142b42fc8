// Leaf: every block comes straight from the device.
#pragma once

#include "allocators/allocator.h"
#include "allocators/device.h"
#include "allocators/memory_counters.h"

namespace baton {

/// Thread-safe. In use and reserved are the same.
class SystemAllocator final : public Allocator {
 public:
  /// The device outlives the allocator.
  explicit SystemAllocator(Device& device) : device_(device) {}

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override;
  MemoryStatistics statistics() const override;

 private:
  Device& device_;
  MemoryCounters counters_{AllocatorSharing::Threads};
};

}  // namespace baton

// An allocator straight from the system that counts what is open, for tests below the level
// of an instance.
#pragma once

#include <atomic>
#include <cstdlib>

#include "allocators/allocator.h"
#include "vm/retainable.h"

namespace baton::vm {

class PlainAllocator final : public Allocator {
 public:
  Result<void*> allocate(size_t sizeBytes, size_t alignment) override {
    if (refuseAfter == 0) return Error(ErrorCode::OutOfMemory, "refused by the test");
    if (refuseAfter > 0) --refuseAfter;
    const size_t rounded = (sizeBytes + alignment - 1) / alignment * alignment;
    void* data = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    if (!data) return Error(ErrorCode::OutOfMemory, "no memory");
    openBytes += static_cast<int64_t>(sizeBytes);
    ++allocationCount;
    return data;
  }
  void release(void* data, size_t sizeBytes, size_t) noexcept override {
    openBytes -= static_cast<int64_t>(sizeBytes);
    std::free(data);
  }
  MemoryStatistics statistics() const override { return {}; }

  std::atomic<int64_t> openBytes{0};
  std::atomic<int64_t> allocationCount{0};
  int64_t refuseAfter = -1;  ///< allocations that still succeed; negative: all
};

/// Keeps nothing; for heaps whose allocator outlives them anyway.
class NoOwner final : public Retainable {};

}  // namespace baton::vm

#include "allocators/limiting_allocator.h"

#include "allocators/out_of_memory.h"

namespace baton {

Result<void*> LimitingAllocator::allocate(size_t sizeBytes, size_t alignment) {
  const uint64_t limit = limitBytes();
  if (!admitted_.addWithin(sizeBytes, limit, counters_.sharing())) [[unlikely]]
    return limitReached(sizeBytes, statistics(), limit);
  Result<void*> data = below_.allocate(sizeBytes, alignment);
  if (data.has_value()) [[likely]]
    counters_.countAllocation(sizeBytes);
  else
    admitted_.subtract(sizeBytes, counters_.sharing());
  return data;
}

void LimitingAllocator::release(void* data, size_t sizeBytes, size_t alignment) noexcept {
  below_.release(data, sizeBytes, alignment);
  counters_.countRelease(sizeBytes);
  admitted_.subtract(sizeBytes, counters_.sharing());
}

MemoryStatistics LimitingAllocator::statistics() const { return counters_.over(below_.statistics()); }

}  // namespace baton

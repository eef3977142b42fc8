#include "allocators/system_allocator.h"

#include "allocators/out_of_memory.h"

namespace baton {

Result<void*> SystemAllocator::allocate(size_t sizeBytes, size_t alignment) {
  Result<void*> data = device_.allocate(sizeBytes, alignment);
  if (!data.has_value()) [[unlikely]]
    return outOfMemory(sizeBytes, statistics(), data.assume_error());
  counters_.countAllocation(sizeBytes);
  return data;
}

void SystemAllocator::release(void* data, size_t sizeBytes, size_t alignment) noexcept {
  device_.release(data, sizeBytes, alignment);
  counters_.countRelease(sizeBytes);
}

MemoryStatistics SystemAllocator::statistics() const {
  MemoryStatistics result = counters_.over({});
  result.reservedBytes = result.inUseBytes;
  result.peakReservedBytes = result.peakInUseBytes;
  result.systemAllocationCount = result.allocationCount;
  return result;
}

}  // namespace baton

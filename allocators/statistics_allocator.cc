#include "allocators/statistics_allocator.h"

#include <bit>

namespace baton {

size_t StatisticsAllocator::classOf(size_t sizeBytes) {
  return sizeBytes <= 1 ? 0 : static_cast<size_t>(std::bit_width(sizeBytes - 1));
}

Result<void*> StatisticsAllocator::allocate(size_t sizeBytes, size_t alignment) {
  Result<void*> data = below_.allocate(sizeBytes, alignment);
  if (!data.has_value()) {
    refused_.add(1, counters_.sharing());
    return data;
  }
  counters_.countAllocation(sizeBytes);
  ClassCounters& counters = classes_[classOf(sizeBytes)];
  counters.allocations.add(1, counters_.sharing());
  counters.inUse.add(1, counters_.sharing());
  counters.inUseBytes.add(sizeBytes, counters_.sharing());
  return data;
}

void StatisticsAllocator::release(void* data, size_t sizeBytes, size_t alignment) noexcept {
  below_.release(data, sizeBytes, alignment);
  counters_.countRelease(sizeBytes);
  ClassCounters& counters = classes_[classOf(sizeBytes)];
  counters.inUse.subtract(1, counters_.sharing());
  counters.inUseBytes.subtract(sizeBytes, counters_.sharing());
}

MemoryStatistics StatisticsAllocator::statistics() const { return counters_.over(below_.statistics()); }

StatisticsAllocator::ClassStatistics StatisticsAllocator::classStatistics(size_t index) const {
  const ClassCounters& counters = classes_[index];
  return {counters.allocations.load(), counters.inUse.load(), counters.inUseBytes.load()};
}

}  // namespace baton

// Adaptor: counts what goes through it, in all and by size.
#pragma once

#include <array>

#include "allocators/allocator.h"
#include "allocators/memory_counters.h"

namespace baton {

/// Thread-safe as `sharing` says, if the allocator below is.
class StatisticsAllocator final : public Allocator {
 public:
  /// One entry for each power of two: entry i counts requests of up to 2^i bytes and more
  /// than 2^(i-1).
  static constexpr size_t kClassCount = 65;
  struct ClassStatistics {
    uint64_t allocationCount = 0;
    uint64_t inUseCount = 0;
    uint64_t inUseBytes = 0;
  };

  explicit StatisticsAllocator(Allocator& below, AllocatorSharing sharing = AllocatorSharing::Threads)
      : below_(below), counters_(sharing) {}

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override;
  void trim() noexcept override { below_.trim(); }
  /// In use and counts through this adaptor; the rest of the allocator below.
  MemoryStatistics statistics() const override;

  ClassStatistics classStatistics(size_t index) const;
  uint64_t refusedCount() const { return refused_.load(); }
  static size_t classOf(size_t sizeBytes);

 private:
  struct ClassCounters {
    SharedCounter allocations;
    SharedCounter inUse;
    SharedCounter inUseBytes;
  };

  Allocator& below_;
  MemoryCounters counters_;
  std::array<ClassCounters, kClassCount> classes_;
  SharedCounter refused_;
};

}  // namespace baton

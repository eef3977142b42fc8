// Adaptor: a hard cap on what is in use through it. Below a pool it caps what an instance
// reserves, above a front what one call uses.
#pragma once

#include "allocators/allocator.h"
#include "allocators/memory_counters.h"

namespace baton {

/// Thread-safe as `sharing` says, if the allocator below is. LimitReached where the cap would be exceeded.
class LimitingAllocator final : public Allocator {
 public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  LimitingAllocator(Allocator& below, uint64_t limitBytes,
                    AllocatorSharing sharing = AllocatorSharing::Threads)
      : below_(below), limitBytes_(limitBytes), counters_(sharing) {}

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override;
  void trim() noexcept override { below_.trim(); }
  /// In use and counts through this adaptor; the rest of the allocator below.
  MemoryStatistics statistics() const override;

  uint64_t limitBytes() const { return limitBytes_.load(std::memory_order_relaxed); }
  /// Applies to later requests; may be below what is in use.
  void setLimit(uint64_t limitBytes) { limitBytes_.store(limitBytes, std::memory_order_relaxed); }
  /// What the cap counts at this moment. Cheap, from any thread.
  uint64_t inUseBytes() const { return admitted_.load(); }

 private:
  Allocator& below_;
  std::atomic<uint64_t> limitBytes_;
  SharedCounter admitted_;  // in use, and being asked for at this moment
  MemoryCounters counters_;
};

}  // namespace baton

// The part of a pool that all threads share: slabs of small blocks and runs of pages, behind
// one lock. Contexts use it through a PoolAllocator of their own, which comes here rarely.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "allocators/allocator.h"
#include "allocators/page_heap.h"
#include "allocators/pool_size_classes.h"

namespace baton {

class PoolAllocator;

/// A run of pages cut into blocks of one class.
struct PoolSlab {
  static constexpr size_t kMaxBlocks = 256;

  PageRun* run = nullptr;
  uint32_t sizeClass = 0;
  uint32_t blockCount = 0;
  uint32_t freeCount = 0;
  std::array<uint64_t, kMaxBlocks / 64> freeBits{};
  boost::intrusive::list_member_hook<> hook;  // in the list of its class while it has a free block
};

/// Thread-safe. Blocks taken from any front or from here may be given back to any front of
/// this backend or here.
class PoolBackend final : public Allocator {
 public:
  struct Options {
    bool hostMemory = true;  ///< whether the memory can be touched by this process
  };

  /// Memory comes from `upstream`, which outlives the backend. All fronts end before it.
  explicit PoolBackend(Allocator& upstream) : PoolBackend(upstream, Options{}) {}
  PoolBackend(Allocator& upstream, Options options);
  ~PoolBackend() override;

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override;

  /// Returns chunks that are free to the upstream allocator and trims that. What fronts
  /// hold in their caches stays until they trim themselves, or next come here.
  void trim() noexcept override;

  /// Sums over all fronts. In use counts bytes as they were asked for; its peak counts
  /// whole blocks, those in the caches of fronts included.
  MemoryStatistics statistics() const override;

 private:
  friend class PoolAllocator;
  using SlabList = boost::intrusive::list<
      PoolSlab,
      boost::intrusive::member_hook<PoolSlab, boost::intrusive::list_member_hook<>, &PoolSlab::hook>>;

  /// Numbers of one user of the backend. Written by that user alone, read by everybody, so
  /// that counting needs no read-modify-write; differences may be negative, because blocks
  /// wander between fronts.
  struct Counters {
    std::atomic<int64_t> inUse{0};
    std::atomic<int64_t> peakInUse{0};
    std::atomic<uint64_t> allocations{0};
    std::atomic<uint64_t> releases{0};
    std::atomic<uint64_t> hits{0};

    template <class T>
    static void add(std::atomic<T>& counter, T value) {
      counter.store(counter.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
    }
    void countAllocation(size_t sizeBytes) {
      const int64_t now = inUse.load(std::memory_order_relaxed) + static_cast<int64_t>(sizeBytes);
      inUse.store(now, std::memory_order_relaxed);
      if (now > peakInUse.load(std::memory_order_relaxed)) peakInUse.store(now, std::memory_order_relaxed);
      add(allocations, uint64_t{1});
    }
    void countRelease(size_t sizeBytes) {
      add(inUse, -static_cast<int64_t>(sizeBytes));
      add(releases, uint64_t{1});
    }
  };

  enum class Growth { No, Allowed };

  /// Fills `out` with blocks of a class: at least one, unless there is none without growing.
  Result<size_t> takeBlocks(uint32_t sizeClass, void** out, size_t count, Growth growth);
  void giveBlocks(uint32_t sizeClass, void* const* blocks, size_t count);
  Result<void*> allocateUncounted(size_t sizeBytes, size_t alignment);
  void releaseUncounted(void* data, size_t sizeBytes, size_t alignment);
  Result<void*> takePages(size_t pages, Growth growth, size_t askedBytes);
  void givePages(void* data);
  void attach(PoolAllocator* front);
  void detach(PoolAllocator* front);
  uint64_t trimCount() const { return trimCount_.load(std::memory_order_relaxed); }

  // With the lock held:
  void* takeBlock(uint32_t sizeClass);
  void giveBlock(uint32_t sizeClass, void* data);
  Result<void> growFor(size_t pages, size_t askedBytes);
  PoolSlab* newSlab();
  void trimLocked();
  MemoryStatistics statisticsLocked() const;
  void lend(int64_t bytes);

  const Options options_;
  Allocator& upstream_;
  mutable std::mutex mutex_;
  PageHeap heap_;
  std::array<SlabList, PoolSizeClass::kSlabCount> partial_;
  std::vector<std::unique_ptr<PoolSlab>> slabs_;
  SlabList spareSlabs_;
  std::vector<PoolAllocator*> fronts_;
  Counters own_;            // blocks taken and given back here, and by fronts that ended
  uint64_t lentBytes_ = 0;  // blocks that are not free here
  uint64_t peakLentBytes_ = 0;
  std::atomic<uint64_t> trimCount_{0};
};

}  // namespace baton

// The part of a pool that belongs to one context: blocks that it gave back lately, by class,
// so that in a steady state memory comes and goes without a lock, an atomic
// read-modify-write or a system call.
#pragma once

#include <memory>

#include "allocators/allocator.h"
#include "allocators/poison.h"
#include "allocators/pool_backend.h"
#include "allocators/pool_size_classes.h"

namespace baton {

/// One thread at a time (statistics() of the backend may be read from any).
class PoolAllocator final : public Allocator {
 public:
  struct Options {
    /// Most that the cache holds back (0: nothing), unless an eighth of the peak in use is more. What
    /// is held back lies scattered and keeps free memory from merging.
    size_t cacheBytes = 512 * 1024;
  };

  /// The backend outlives the front. Blocks that are still in use when the front ends stay
  /// valid and go to the backend.
  explicit PoolAllocator(PoolBackend& backend) : PoolAllocator(backend, Options{}) {}
  PoolAllocator(PoolBackend& backend, Options options);
  ~PoolAllocator() override;

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override {
    if (void* data = tryAllocate(sizeBytes, alignment)) [[likely]]
      return data;
    return allocateSlowly(sizeBytes, alignment);
  }
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override {
    if (!tryRelease(data, sizeBytes, alignment)) [[unlikely]]
      releaseSlowly(data, sizeBytes, alignment);
  }

  /// The part of allocate() that never leaves the cache; null when that has no such block.
  /// For callers that count every nanosecond.
  void* tryAllocate(size_t sizeBytes, size_t alignment) {
    if (sizeBytes > PoolSizeClass::kMaxBytes || alignment > PoolSizeClass::kMaxAlignment) return nullptr;
    Stack& stack = stacks_[classOf(sizeBytes, alignment)];
    if (stack.count == 0) return nullptr;
    void* data = items_[stack.first + --stack.count];
    cachedBytes_ -= stack.blockBytes;
    if (hostMemory_) unpoison(data, sizeBytes);
    counters_.countAllocation(sizeBytes);
    PoolBackend::Counters::add(counters_.hits, uint64_t{1});
    return data;
  }
  /// The part of release() that never leaves the cache; false when that is full.
  bool tryRelease(void* data, size_t sizeBytes, size_t alignment) noexcept {
    if (sizeBytes > PoolSizeClass::kMaxBytes || alignment > PoolSizeClass::kMaxAlignment) return false;
    Stack& stack = stacks_[classOf(sizeBytes, alignment)];
    if (stack.count == stack.capacity || cachedBytes_ + stack.blockBytes > cacheLimitBytes_) return false;
    items_[stack.first + stack.count++] = data;
    cachedBytes_ += stack.blockBytes;
    if (hostMemory_) poison(data, stack.blockBytes);
    counters_.countRelease(sizeBytes);
    return true;
  }

  /// Gives the whole cache to the backend.
  void flush() noexcept;
  /// flush(), and the backend's trim().
  void trim() noexcept override;

  /// Of this front: in use and counts. A block that was taken here and given back elsewhere
  /// stays in use here. Reserved is what the backend has reserved for all fronts.
  MemoryStatistics statistics() const override;

  /// The class of a request that has one.
  static constexpr uint32_t classOf(size_t sizeBytes, size_t alignment) {
    const size_t unit =
        alignment > PoolSizeClass::kStep ? PoolSizeClass::kMaxAlignment : PoolSizeClass::kStep;
    return PoolSizeClass::of((sizeBytes + (sizeBytes == 0) + unit - 1) & ~(unit - 1));
  }

 private:
  friend class PoolBackend;

  struct Stack {
    uint32_t count = 0;
    uint32_t capacity = 0;
    uint32_t first = 0;  // in items_
    uint32_t blockBytes = 0;
  };
  struct LargeBlock {
    size_t pages = 0;  // 0: no block
    void* data = nullptr;
  };
  static constexpr size_t kLargeCount = 16;

  Result<void*> allocateSlowly(size_t sizeBytes, size_t alignment);
  void releaseSlowly(void* data, size_t sizeBytes, size_t alignment) noexcept;
  Result<void*> refill(uint32_t sizeClass);
  Result<void*> allocateLarge(size_t pages, size_t sizeBytes);
  void releaseLarge(void* data, size_t pages);
  void flushOldest(Stack& stack, uint32_t sizeClass, uint32_t count);
  void keepUp();

  PoolBackend& backend_;
  size_t cacheLimitBytes_;
  const bool hostMemory_;
  size_t cachedBytes_ = 0;
  uint64_t seenTrimCount_ = 0;
  std::unique_ptr<void*[]> items_;
  std::array<Stack, PoolSizeClass::kCount> stacks_;
  std::array<LargeBlock, kLargeCount> large_;
  size_t nextLarge_ = 0;  // the entry that is replaced next
  PoolBackend::Counters counters_;
};

}  // namespace baton

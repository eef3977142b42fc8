#include "allocators/pool_allocator.h"

#include <algorithm>

#include "allocators/out_of_memory.h"

namespace baton {

namespace {

uint32_t capacityOf(size_t blockBytes) {
  if (blockBytes <= PoolSizeClass::kLinearBytes) return 32;
  if (blockBytes <= PoolSizeClass::kSlabBytes) return 16;
  return blockBytes <= PoolSizeClass::kFineBytes ? 8 : 4;
}

/// How many blocks one visit to the backend fetches.
size_t refillCount(size_t blockBytes) {
  if (blockBytes <= 1024) return 16;
  if (blockBytes <= PoolSizeClass::kSlabBytes) return 4;
  return 1;
}

constexpr size_t kMaxRefill = 16;

/// Runs without a class come in coarse steps too, so that they fit again more often.
size_t largePages(size_t sizeBytes) {
  constexpr size_t kStep = PoolSizeClass::kCoarseStep;
  return (sizeBytes + kStep - 1) / kStep * (kStep / kPageBytes);
}

}  // namespace

PoolAllocator::PoolAllocator(PoolBackend& backend, Options options)
    : backend_(backend), cacheLimitBytes_(options.cacheBytes), hostMemory_(backend.options_.hostMemory) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < PoolSizeClass::kCount; ++i) {
    Stack& stack = stacks_[i];
    stack.blockBytes = static_cast<uint32_t>(PoolSizeClass::blockBytes(i));
    stack.capacity = capacityOf(stack.blockBytes);
    stack.first = total;
    total += stack.capacity;
  }
  items_.reset(new void*[total]);
  seenTrimCount_ = backend_.trimCount();
  backend_.attach(this);
}

PoolAllocator::~PoolAllocator() {
  flush();
  backend_.detach(this);
}

Result<void*> PoolAllocator::allocateSlowly(size_t sizeBytes, size_t alignment) {
  keepUp();
  void* data = nullptr;
  if (alignment > PoolSizeClass::kMaxAlignment) {
    BATON_TRY_ASSIGN(data, backend_.allocateUncounted(sizeBytes, alignment));
  } else if (sizeBytes <= PoolSizeClass::kMaxBytes) {
    BATON_TRY_ASSIGN(data, refill(classOf(sizeBytes, alignment)));
  } else if (sizeBytes > PTRDIFF_MAX) {
    return outOfMemory(sizeBytes, backend_.statistics(),
                       Error(ErrorCode::OutOfMemory, "no address space is as large"));
  } else {
    BATON_TRY_ASSIGN(data, allocateLarge(largePages(sizeBytes), sizeBytes));
  }
  if (hostMemory_) unpoison(data, sizeBytes);
  counters_.countAllocation(sizeBytes);
  return data;
}

Result<void*> PoolAllocator::refill(uint32_t sizeClass) {
  void* blocks[kMaxRefill];
  Stack& stack = stacks_[sizeClass];
  const size_t wanted = refillCount(stack.blockBytes);
  BATON_TRY_ASSIGN(size_t count, backend_.takeBlocks(sizeClass, blocks, wanted, PoolBackend::Growth::No));
  if (count == 0) {
    // Before more is reserved, what lies in the cache of other classes may do.
    flush();
    BATON_TRY_ASSIGN(count, backend_.takeBlocks(sizeClass, blocks, wanted, PoolBackend::Growth::Allowed));
  }
  for (size_t i = 1; i < count; ++i) {
    items_[stack.first + stack.count++] = blocks[i];
    cachedBytes_ += stack.blockBytes;
  }
  return blocks[0];
}

Result<void*> PoolAllocator::allocateLarge(size_t pages, size_t sizeBytes) {
  for (LargeBlock& block : large_)
    if (block.pages == pages) {
      block.pages = 0;
      cachedBytes_ -= pages * kPageBytes;
      PoolBackend::Counters::add(counters_.hits, uint64_t{1});
      return block.data;
    }
  BATON_TRY_ASSIGN(void* data, backend_.takePages(pages, PoolBackend::Growth::No, sizeBytes));
  if (data) return data;
  flush();
  return backend_.takePages(pages, PoolBackend::Growth::Allowed, sizeBytes);
}

void PoolAllocator::releaseSlowly(void* data, size_t sizeBytes, size_t alignment) noexcept {
  keepUp();
  counters_.countRelease(sizeBytes);
  if (alignment > PoolSizeClass::kMaxAlignment) {
    backend_.releaseUncounted(data, sizeBytes, alignment);
    return;
  }
  if (sizeBytes > PoolSizeClass::kMaxBytes) {
    releaseLarge(data, largePages(sizeBytes));
    return;
  }
  const uint32_t sizeClass = classOf(sizeBytes, alignment);
  Stack& stack = stacks_[sizeClass];
  if (stack.count == stack.capacity) {
    flushOldest(stack, sizeClass, stack.capacity / 2);
    if (cachedBytes_ + stack.blockBytes <= cacheLimitBytes_) {
      items_[stack.first + stack.count++] = data;
      cachedBytes_ += stack.blockBytes;
      if (hostMemory_) poison(data, stack.blockBytes);
      return;
    }
  }
  backend_.giveBlocks(sizeClass, &data, 1);
}

void PoolAllocator::releaseLarge(void* data, size_t pages) {
  if (cachedBytes_ + pages * kPageBytes > cacheLimitBytes_) {
    backend_.givePages(data);
    return;
  }
  LargeBlock* entry = nullptr;
  for (LargeBlock& block : large_)
    if (block.pages == 0) entry = &block;
  if (!entry) {
    entry = &large_[nextLarge_++ % kLargeCount];
    cachedBytes_ -= entry->pages * kPageBytes;
    backend_.givePages(entry->data);
  }
  *entry = {pages, data};
  cachedBytes_ += pages * kPageBytes;
  if (hostMemory_) poison(data, pages * kPageBytes);
}

void PoolAllocator::flushOldest(Stack& stack, uint32_t sizeClass, uint32_t count) {
  void** items = &items_[stack.first];
  backend_.giveBlocks(sizeClass, items, count);
  std::copy(items + count, items + stack.count, items);
  stack.count -= count;
  cachedBytes_ -= size_t{count} * stack.blockBytes;
}

void PoolAllocator::flush() noexcept {
  for (uint32_t i = 0; i < PoolSizeClass::kCount; ++i)
    if (stacks_[i].count != 0) flushOldest(stacks_[i], i, stacks_[i].count);
  for (LargeBlock& block : large_) {
    if (block.pages == 0) continue;
    cachedBytes_ -= block.pages * kPageBytes;
    block.pages = 0;
    backend_.givePages(block.data);
  }
}

/// What the fast paths leave to those who come to the backend anyway.
void PoolAllocator::keepUp() {
  const auto peak =
      static_cast<size_t>(std::max<int64_t>(counters_.peakInUse.load(std::memory_order_relaxed), 0));
  if (cacheLimitBytes_ != 0) cacheLimitBytes_ = std::max(cacheLimitBytes_, peak / 8);
  const uint64_t count = backend_.trimCount();
  if (count == seenTrimCount_) return;
  seenTrimCount_ = count;
  flush();
}

void PoolAllocator::trim() noexcept {
  flush();
  backend_.trim();
  seenTrimCount_ = backend_.trimCount();
}

MemoryStatistics PoolAllocator::statistics() const {
  MemoryStatistics result = backend_.statistics();
  const auto clamped = [](int64_t value) { return static_cast<uint64_t>(std::max<int64_t>(value, 0)); };
  result.inUseBytes = clamped(counters_.inUse.load(std::memory_order_relaxed));
  result.peakInUseBytes = clamped(counters_.peakInUse.load(std::memory_order_relaxed));
  result.allocationCount = counters_.allocations.load(std::memory_order_relaxed);
  result.releaseCount = counters_.releases.load(std::memory_order_relaxed);
  result.cacheHitCount = counters_.hits.load(std::memory_order_relaxed);
  return result;
}

}  // namespace baton

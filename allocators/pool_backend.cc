#include "allocators/pool_backend.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "allocators/out_of_memory.h"
#include "allocators/poison.h"
#include "allocators/pool_allocator.h"
#include "base/checked_math.h"

namespace baton {

namespace {

/// Whether blocks of this request are of a class; the others are runs of pages.
bool hasClass(size_t sizeBytes, size_t alignment) {
  return sizeBytes <= PoolSizeClass::kMaxBytes && alignment <= PoolSizeClass::kMaxAlignment;
}

/// Pages for a request without a class, or nothing when no such run can exist.
std::optional<size_t> pagesFor(size_t sizeBytes, size_t alignment) {
  const size_t slack = alignment > kPageBytes ? alignment - kPageBytes : 0;
  const auto padded = checkedAdd<uint64_t>(std::max<uint64_t>(sizeBytes, 1), slack);
  const auto rounded = padded ? checkedAlignUp(*padded, PoolSizeClass::kCoarseStep) : std::nullopt;
  if (!rounded || *rounded > INT64_MAX) return std::nullopt;
  return *rounded / kPageBytes;
}

size_t pagesOfClass(uint32_t sizeClass) {
  if (sizeClass < PoolSizeClass::kSlabCount) return PoolSizeClass::slabPages(sizeClass);
  return PoolSizeClass::blockBytes(sizeClass) / kPageBytes;
}

}  // namespace

PoolBackend::PoolBackend(Allocator& upstream, Options options)
    : options_(options), upstream_(upstream), heap_(upstream, options.hostMemory) {}

PoolBackend::~PoolBackend() {
  BATON_DCHECK(fronts_.empty());
  for (SlabList& list : partial_) list.clear();
  spareSlabs_.clear();
}

PoolSlab* PoolBackend::newSlab() {
  if (spareSlabs_.empty()) {
    slabs_.push_back(std::make_unique<PoolSlab>());
    return slabs_.back().get();
  }
  PoolSlab& slab = spareSlabs_.front();
  spareSlabs_.pop_front();
  return &slab;
}

void PoolBackend::lend(int64_t bytes) {
  lentBytes_ += static_cast<uint64_t>(bytes);
  peakLentBytes_ = std::max(peakLentBytes_, lentBytes_);
}

void* PoolBackend::takeBlock(uint32_t sizeClass) {
  const size_t blockBytes = PoolSizeClass::blockBytes(sizeClass);
  if (sizeClass >= PoolSizeClass::kSlabCount) {
    PageRun* run = heap_.take(blockBytes / kPageBytes);
    if (!run) return nullptr;
    lend(static_cast<int64_t>(blockBytes));
    return run->data;
  }
  SlabList& partial = partial_[sizeClass];
  if (partial.empty()) {
    PageRun* run = heap_.take(PoolSizeClass::slabPages(sizeClass));
    if (!run) return nullptr;
    PoolSlab* slab = newSlab();
    slab->run = run;
    slab->sizeClass = sizeClass;
    slab->blockCount = static_cast<uint32_t>(run->sizeBytes() / blockBytes);
    slab->freeCount = slab->blockCount;
    slab->freeBits.fill(0);
    for (uint32_t i = 0; i < slab->blockCount; ++i) slab->freeBits[i / 64] |= uint64_t{1} << (i % 64);
    run->slab = slab;
    partial.push_front(*slab);
  }
  PoolSlab& slab = partial.front();
  size_t word = 0;
  while (slab.freeBits[word] == 0) ++word;
  const auto bit = static_cast<size_t>(std::countr_zero(slab.freeBits[word]));
  slab.freeBits[word] &= slab.freeBits[word] - 1;
  if (--slab.freeCount == 0) partial.pop_front();
  lend(static_cast<int64_t>(blockBytes));
  return slab.run->data + (word * 64 + bit) * blockBytes;
}

void PoolBackend::giveBlock(uint32_t sizeClass, void* data) {
  const size_t blockBytes = PoolSizeClass::blockBytes(sizeClass);
  lend(-static_cast<int64_t>(blockBytes));
  if (options_.hostMemory) poison(data, blockBytes);
  PageRun* run = heap_.find(data);
  PoolSlab* slab = run->slab;
  if (!slab) {
    heap_.giveBack(run);
    return;
  }
  BATON_DCHECK(slab->sizeClass == sizeClass);
  const size_t index = static_cast<size_t>(static_cast<std::byte*>(data) - run->data) / blockBytes;
  BATON_DCHECK((slab->freeBits[index / 64] >> (index % 64) & 1) == 0);
  slab->freeBits[index / 64] |= uint64_t{1} << (index % 64);
  SlabList& partial = partial_[sizeClass];
  if (slab->freeCount++ == 0) partial.push_front(*slab);
  if (slab->freeCount == slab->blockCount) {
    partial.erase(partial.iterator_to(*slab));
    heap_.giveBack(run);
    spareSlabs_.push_front(*slab);
  }
}

Result<void> PoolBackend::growFor(size_t pages, size_t askedBytes) {
  Result<void> grown = heap_.grow(pages);
  if (grown.has_value()) return success();
  trimLocked();
  grown = heap_.grow(pages);
  if (!grown.has_value()) return outOfMemory(askedBytes, statisticsLocked(), grown.assume_error());
  return success();
}

Result<size_t> PoolBackend::takeBlocks(uint32_t sizeClass, void** out, size_t count, Growth growth) {
  const std::lock_guard lock(mutex_);
  size_t taken = 0;
  for (; taken < count; ++taken) {
    void* block = takeBlock(sizeClass);
    if (!block && taken == 0 && growth == Growth::Allowed) {
      BATON_TRY(growFor(pagesOfClass(sizeClass), PoolSizeClass::blockBytes(sizeClass)));
      block = takeBlock(sizeClass);
    }
    if (!block) break;
    out[taken] = block;
  }
  return taken;
}

void PoolBackend::giveBlocks(uint32_t sizeClass, void* const* blocks, size_t count) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < count; ++i) giveBlock(sizeClass, blocks[i]);
}

Result<void*> PoolBackend::takePages(size_t pages, Growth growth, size_t askedBytes) {
  const std::lock_guard lock(mutex_);
  PageRun* run = heap_.take(pages);
  if (!run && growth == Growth::Allowed) {
    BATON_TRY(growFor(pages, askedBytes));
    run = heap_.take(pages);
  }
  if (!run) return static_cast<void*>(nullptr);
  lend(static_cast<int64_t>(run->sizeBytes()));
  return static_cast<void*>(run->data);
}

void PoolBackend::givePages(void* data) {
  const std::lock_guard lock(mutex_);
  PageRun* run = heap_.find(data);
  lend(-static_cast<int64_t>(run->sizeBytes()));
  if (options_.hostMemory) poison(run->data, run->sizeBytes());
  heap_.giveBack(run);
}

Result<void*> PoolBackend::allocateUncounted(size_t sizeBytes, size_t alignment) {
  void* data = nullptr;
  if (hasClass(sizeBytes, alignment)) {
    BATON_TRY(takeBlocks(PoolAllocator::classOf(sizeBytes, alignment), &data, 1, Growth::Allowed));
  } else {
    const auto pages = pagesFor(sizeBytes, alignment);
    if (!pages)
      return outOfMemory(sizeBytes, statistics(),
                         Error(ErrorCode::OutOfMemory, "no address space is as large"));
    BATON_TRY_ASSIGN(data, takePages(*pages, Growth::Allowed, sizeBytes));
    if (alignment > kPageBytes)
      data = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(data) + alignment - 1) & ~(alignment - 1));
  }
  if (options_.hostMemory) unpoison(data, sizeBytes);
  return data;
}

void PoolBackend::releaseUncounted(void* data, size_t sizeBytes, size_t alignment) {
  if (hasClass(sizeBytes, alignment))
    giveBlocks(PoolAllocator::classOf(sizeBytes, alignment), &data, 1);
  else
    givePages(data);
}

Result<void*> PoolBackend::allocate(size_t sizeBytes, size_t alignment) {
  BATON_TRY_ASSIGN(void* data, allocateUncounted(sizeBytes, alignment));
  const std::lock_guard lock(mutex_);
  own_.countAllocation(sizeBytes);
  return data;
}

void PoolBackend::release(void* data, size_t sizeBytes, size_t alignment) noexcept {
  releaseUncounted(data, sizeBytes, alignment);
  const std::lock_guard lock(mutex_);
  own_.countRelease(sizeBytes);
}

void PoolBackend::trimLocked() {
  heap_.trim();
  upstream_.trim();
}

void PoolBackend::trim() noexcept {
  trimCount_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  trimLocked();
}

void PoolBackend::attach(PoolAllocator* front) {
  const std::lock_guard lock(mutex_);
  fronts_.push_back(front);
}

void PoolBackend::detach(PoolAllocator* front) {
  const std::lock_guard lock(mutex_);
  std::erase(fronts_, front);
  const Counters& last = front->counters_;
  Counters::add(own_.inUse, last.inUse.load(std::memory_order_relaxed));
  Counters::add(own_.allocations, last.allocations.load(std::memory_order_relaxed));
  Counters::add(own_.releases, last.releases.load(std::memory_order_relaxed));
  Counters::add(own_.hits, last.hits.load(std::memory_order_relaxed));
}

MemoryStatistics PoolBackend::statisticsLocked() const {
  MemoryStatistics result;
  int64_t inUse = 0;
  const auto addUp = [&](const Counters& counters) {
    inUse += counters.inUse.load(std::memory_order_relaxed);
    result.allocationCount += counters.allocations.load(std::memory_order_relaxed);
    result.releaseCount += counters.releases.load(std::memory_order_relaxed);
    result.cacheHitCount += counters.hits.load(std::memory_order_relaxed);
  };
  addUp(own_);
  for (const PoolAllocator* front : fronts_) addUp(front->counters_);
  result.inUseBytes = static_cast<uint64_t>(std::max<int64_t>(inUse, 0));
  result.peakInUseBytes = std::max(peakLentBytes_, result.inUseBytes);
  result.reservedBytes = heap_.reservedBytes();
  result.peakReservedBytes = heap_.peakReservedBytes();
  result.systemAllocationCount = heap_.chunkRequestCount();
  return result;
}

MemoryStatistics PoolBackend::statistics() const {
  const std::lock_guard lock(mutex_);
  return statisticsLocked();
}

}  // namespace baton

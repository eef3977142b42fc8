#include "allocators/page_heap.h"

#include <algorithm>

#include "allocators/poison.h"

namespace baton {

namespace {

/// A chunk adds about 1/8 to what is reserved: growth stays geometric, and what is reserved
/// in advance stays small beside what is needed.
constexpr size_t kMinChunkPages = 64 * 1024 / kPageBytes;
constexpr size_t kMaxChunkPages = 8 * 1024 * 1024 / kPageBytes;
constexpr uint64_t kGrowthDivisor = 8;
/// Chunks are whole pages of the machine.
constexpr size_t kChunkUnit = kChunkAlignment / kPageBytes;
constexpr size_t kRunsPerBlock = 64;

}  // namespace

PageHeap::~PageHeap() {
  // Whatever is still in use is the user's leak; the chunks go all the same.
  for (PageRun& run : byAddress_) {
    if (run.before) continue;
    size_t chunkBytes = 0;
    for (const PageRun* part = &run; part; part = part->after) chunkBytes += part->sizeBytes();
    if (hostMemory_) unpoison(run.data, chunkBytes);
    upstream_.release(run.data, chunkBytes, kChunkAlignment);
  }
  freeBySize_.clear();
  byAddress_.clear();
}

PageRun* PageHeap::newRun() {
  if (!spare_) {
    storage_.push_back(std::make_unique<PageRun[]>(kRunsPerBlock));
    for (size_t i = 0; i < kRunsPerBlock; ++i) dropRun(&storage_.back()[i]);
  }
  PageRun* run = spare_;
  spare_ = run->after;
  run->before = run->after = nullptr;
  run->slab = nullptr;
  return run;
}

void PageHeap::dropRun(PageRun* run) {
  run->after = spare_;
  spare_ = run;
}

PageRun* PageHeap::take(size_t pages) {
  PageRun wanted;
  wanted.pages = pages;
  const auto best = freeBySize_.lower_bound(wanted);
  if (best == freeBySize_.end()) return nullptr;
  PageRun* run = &*best;
  // What may throw comes before anything changes.
  PageRun* rest = run->pages > pages ? newRun() : nullptr;
  freeBySize_.erase(best);
  if (rest) {
    rest->data = run->data + pages * kPageBytes;
    rest->pages = run->pages - pages;
    rest->free = true;
    rest->before = run;
    rest->after = run->after;
    if (rest->after) rest->after->before = rest;
    run->after = rest;
    run->pages = pages;
    byAddress_.insert(*rest);
    freeBySize_.insert(*rest);
  }
  run->free = false;
  return run;
}

Result<void> PageHeap::grow(size_t pages) {
  const uint64_t growth = reservedBytes_ / kGrowthDivisor / kPageBytes;
  pages = (pages + kChunkUnit - 1) / kChunkUnit * kChunkUnit;
  const size_t replaced = trim();
  size_t chunkPages = std::max(
      {pages, replaced, static_cast<size_t>(std::clamp<uint64_t>(growth, kMinChunkPages, kMaxChunkPages))});
  chunkPages = (chunkPages + kChunkUnit - 1) / kChunkUnit * kChunkUnit;
  PageRun* run = newRun();  // may throw, when there is nothing to lose yet
  Result<void*> memory = upstream_.allocate(chunkPages * kPageBytes, kChunkAlignment);
  if (!memory.has_value() && chunkPages > pages) {
    // Near a limit what is needed may fit where the round chunk does not.
    chunkPages = pages;
    memory = upstream_.allocate(chunkPages * kPageBytes, kChunkAlignment);
  }
  if (!memory.has_value()) {
    dropRun(run);
    return std::move(memory).assume_error();
  }
  ++chunkRequestCount_;
  run->data = static_cast<std::byte*>(memory.assume_value());
  run->pages = chunkPages;
  run->free = true;
  byAddress_.insert(*run);
  freeBySize_.insert(*run);
  if (hostMemory_) poison(run->data, run->sizeBytes());
  reservedBytes_ += run->sizeBytes();
  peakReservedBytes_ = std::max(peakReservedBytes_, reservedBytes_);
  return success();
}

void PageHeap::giveBack(PageRun* run) {
  run->free = true;
  run->slab = nullptr;
  // Merges into the neighbour in front; the run that stays keeps its address.
  const auto absorb = [&](PageRun* first, PageRun* second) {
    byAddress_.erase(byAddress_.iterator_to(*second));
    first->pages += second->pages;
    first->after = second->after;
    if (first->after) first->after->before = first;
    dropRun(second);
  };
  if (run->after && run->after->free) {
    freeBySize_.erase(freeBySize_.iterator_to(*run->after));
    absorb(run, run->after);
  }
  if (run->before && run->before->free) {
    PageRun* front = run->before;
    freeBySize_.erase(freeBySize_.iterator_to(*front));
    absorb(front, run);
    run = front;
  }
  freeBySize_.insert(*run);
}

PageRun* PageHeap::find(const void* address) {
  auto next = byAddress_.upper_bound(static_cast<const std::byte*>(address));
  BATON_DCHECK(next != byAddress_.begin());
  --next;
  return &*next;
}

size_t PageHeap::trim() {
  size_t pages = 0;
  for (auto it = freeBySize_.begin(); it != freeBySize_.end();) {
    PageRun* run = &*it;
    if (run->before || run->after) {
      ++it;
      continue;
    }
    it = freeBySize_.erase(it);
    byAddress_.erase(byAddress_.iterator_to(*run));
    if (hostMemory_) unpoison(run->data, run->sizeBytes());
    upstream_.release(run->data, run->sizeBytes(), kChunkAlignment);
    reservedBytes_ -= run->sizeBytes();
    pages += run->pages;
    dropRun(run);
  }
  return pages;
}

}  // namespace baton

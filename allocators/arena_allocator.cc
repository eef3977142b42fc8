#include "allocators/arena_allocator.h"

#include <algorithm>

#include "allocators/out_of_memory.h"
#include "allocators/poison.h"
#include "base/checked_math.h"

namespace baton {

namespace {

uint64_t addressOf(const void* data) { return reinterpret_cast<uintptr_t>(data); }

}  // namespace

ArenaAllocator::ArenaAllocator(Allocator& upstream, size_t chunkBytes)
    : upstream_(upstream),
      chunkBytes_(std::max<size_t>(chunkBytes, kTensorAlignment)),
      nextChunkBytes_(chunkBytes_) {}

ArenaAllocator::~ArenaAllocator() { dropChunksFrom(0); }

void* ArenaAllocator::cut(Chunk& chunk, size_t sizeBytes, size_t alignment) {
  const auto start = checkedAlignUp(addressOf(chunk.data) + chunk.usedBytes, alignment);
  if (!start) return nullptr;
  const uint64_t offset = *start - addressOf(chunk.data);
  if (offset > chunk.sizeBytes || chunk.sizeBytes - offset < sizeBytes) return nullptr;
  spanBytes_ += offset + sizeBytes - chunk.usedBytes;
  peakSpanBytes_ = std::max(peakSpanBytes_, spanBytes_);
  chunk.usedBytes = offset + sizeBytes;
  unpoison(chunk.data + offset, sizeBytes);
  return chunk.data + offset;
}

Result<void*> ArenaAllocator::allocate(size_t sizeBytes, size_t alignment) {
  void* data = current_ < chunks_.size() ? cut(chunks_[current_], sizeBytes, alignment) : nullptr;
  if (data) [[likely]] {
    ++statistics_.cacheHitCount;
  } else {
    BATON_TRY_ASSIGN(data, allocateFromNextChunk(sizeBytes, alignment));
  }
  ++statistics_.allocationCount;
  ++openBlocks_;
  statistics_.inUseBytes += sizeBytes;
  statistics_.peakInUseBytes = std::max(statistics_.peakInUseBytes, statistics_.inUseBytes);
  return data;
}

Result<void*> ArenaAllocator::allocateFromNextChunk(size_t sizeBytes, size_t alignment) {
  // A chunk too small for this block is passed by for the rest of the round.
  for (size_t next = chunks_.empty() ? 0 : current_ + 1; next < chunks_.size(); ++next)
    if (void* data = cut(chunks_[next], sizeBytes, alignment)) {
      current_ = next;
      ++statistics_.cacheHitCount;
      return data;
    }
  const auto padded = checkedAdd<uint64_t>(sizeBytes, alignment > kChunkAlignment ? alignment : 0);
  const size_t chunkBytes = std::max<uint64_t>(padded.value_or(UINT64_MAX), nextChunkBytes_);
  // May throw, when there is nothing to lose yet.
  if (chunks_.size() == chunks_.capacity()) chunks_.reserve(2 * chunks_.size() + 1);
  Result<void*> memory = upstream_.allocate(chunkBytes, kChunkAlignment);
  if (!memory.has_value()) {
    upstream_.trim();
    memory = upstream_.allocate(padded.value_or(UINT64_MAX), kChunkAlignment);
    if (!memory.has_value()) return outOfMemory(sizeBytes, statistics_, memory.assume_error());
    chunks_.push_back({static_cast<std::byte*>(memory.assume_value()), *padded, 0});
  } else {
    chunks_.push_back({static_cast<std::byte*>(memory.assume_value()), chunkBytes, 0});
  }
  Chunk& chunk = chunks_.back();
  poison(chunk.data, chunk.sizeBytes);
  ++statistics_.systemAllocationCount;
  statistics_.reservedBytes += chunk.sizeBytes;
  statistics_.peakReservedBytes = std::max(statistics_.peakReservedBytes, statistics_.reservedBytes);
  nextChunkBytes_ = std::max<size_t>(chunkBytes_, statistics_.reservedBytes);
  current_ = chunks_.size() - 1;
  void* data = cut(chunk, sizeBytes, alignment);
  BATON_DCHECK(data != nullptr);
  return data;
}

void ArenaAllocator::release(void* data, size_t sizeBytes, size_t) noexcept {
  ++statistics_.releaseCount;
  --openBlocks_;
  statistics_.inUseBytes -= sizeBytes;
  poison(data, sizeBytes);
  if (openBlocks_ == 0) {
    rewind({});
    return;
  }
  Chunk& chunk = chunks_[current_];
  if (addressOf(data) + sizeBytes == addressOf(chunk.data) + chunk.usedBytes) {
    spanBytes_ -= sizeBytes;
    chunk.usedBytes -= sizeBytes;
  }
}

ArenaAllocator::Mark ArenaAllocator::mark() const {
  return {current_, current_ < chunks_.size() ? chunks_[current_].usedBytes : 0, statistics_.inUseBytes,
          openBlocks_};
}

void ArenaAllocator::rewind(const Mark& mark) {
  for (size_t i = mark.chunk; i < chunks_.size(); ++i) {
    Chunk& chunk = chunks_[i];
    const size_t used = i == mark.chunk ? mark.usedBytes : 0;
    poison(chunk.data + used, chunk.sizeBytes - used);
    spanBytes_ -= chunk.usedBytes - used;
    chunk.usedBytes = used;
  }
  current_ = mark.chunk;
  statistics_.releaseCount += openBlocks_ - mark.openBlocks;
  openBlocks_ = mark.openBlocks;
  statistics_.inUseBytes = mark.inUseBytes;
}

void ArenaAllocator::reset() {
  rewind({});
  const size_t count = chunks_.size();
  if (count <= 1) return;
  dropChunksFrom(0);
  // Where a chunk ended the next block needed no padding; in one chunk it may.
  const auto whole = checkedAlignUp(peakSpanBytes_ + count * kTensorAlignment, kChunkAlignment);
  nextChunkBytes_ = std::max<uint64_t>(chunkBytes_, whole.value_or(0));
}

void ArenaAllocator::dropChunksFrom(size_t first) {
  for (size_t i = first; i < chunks_.size(); ++i) {
    unpoison(chunks_[i].data, chunks_[i].sizeBytes);
    upstream_.release(chunks_[i].data, chunks_[i].sizeBytes, kChunkAlignment);
    statistics_.reservedBytes -= chunks_[i].sizeBytes;
  }
  chunks_.resize(std::min(first, chunks_.size()));
  if (current_ >= chunks_.size()) current_ = chunks_.empty() ? 0 : chunks_.size() - 1;
}

void ArenaAllocator::trim() noexcept {
  size_t needed = 0;
  for (size_t i = 0; i < chunks_.size(); ++i)
    if (chunks_[i].usedBytes != 0) needed = i + 1;
  // Blocks of no bytes may point into a chunk that seems empty.
  if (openBlocks_ != 0) needed = std::max(needed, std::min(current_ + 1, chunks_.size()));
  dropChunksFrom(needed);
  nextChunkBytes_ = chunkBytes_;
  upstream_.trim();
}

MemoryStatistics ArenaAllocator::statistics() const { return statistics_; }

}  // namespace baton

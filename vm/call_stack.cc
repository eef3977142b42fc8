#include "vm/call_stack.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

namespace baton::vm {

namespace {
constexpr uint64_t kStandardBytes = 16 << 10;
constexpr uint64_t kLargestBytes = 1 << 20;
constexpr uint32_t kCachedSegments = 16;  // of each bank
}  // namespace

void SegmentCache::trim() {
  for (int bank = 0; bank < 2; ++bank) {
    while (Entry* entry = free_[bank]) {
      free_[bank] = entry->next;
      allocator_.release(entry, kStandardBytes, kTensorAlignment);
    }
    count_[bank] = 0;
  }
}

StackBank::~StackBank() {
  while (top_) pop();
  if (spare_) give(spare_);
}

Result<void> StackBank::push(uint64_t words, uint64_t usedBytes, uint64_t limitBytes) {
  const uint64_t needed = sizeof(Segment) + 8 * words;
  uint64_t bytes = std::max(needed, top_ ? std::min(2 * top_->bytes, kLargestBytes) : kStandardBytes);
  Segment* segment = nullptr;
  if (spare_ && spare_->bytes >= needed) {
    segment = std::exchange(spare_, nullptr);
    bytes = segment->bytes;
  }
  if (bytes > limitBytes || usedBytes > limitBytes - bytes) {
    if (segment) give(segment);
    return Error(ErrorCode::LimitReached,
                 fmt::format("call depth limit reached: {} bytes of frames in use, {} allowed", usedBytes,
                             limitBytes));
  }
  if (!segment && bytes == kStandardBytes && cache_.free_[isReferences_]) {
    SegmentCache::Entry* entry = cache_.free_[isReferences_];
    cache_.free_[isReferences_] = entry->next;
    --cache_.count_[isReferences_];
    segment = reinterpret_cast<Segment*>(entry);
  }
  if (!segment) {
    BATON_TRY_ASSIGN(void* const memory, cache_.allocator_.allocate(bytes, kTensorAlignment));
    segment = static_cast<Segment*>(memory);
    if (isReferences_) std::memset(static_cast<void*>(segment + 1), 0, bytes - sizeof(Segment));
  }
  new (segment) Segment{top_, bytes};
  top_ = segment;
  totalBytes_ += bytes;
  return success();
}

void StackBank::pop() {
  Segment* segment = top_;
  top_ = segment->previous;
  totalBytes_ -= segment->bytes;
  if (spare_) give(spare_);
  spare_ = segment;
}

void StackBank::dropBelowTop() {
  Segment* segment = top_->previous;
  top_->previous = segment->previous;
  totalBytes_ -= segment->bytes;
  give(segment);
}

void StackBank::give(Segment* segment) {
  if (segment->bytes != kStandardBytes || cache_.count_[isReferences_] == kCachedSegments) {
    cache_.allocator_.release(segment, segment->bytes, kTensorAlignment);
    return;
  }
  // The first words after the header stay what they are; the header is not part of any window.
  auto* entry = reinterpret_cast<SegmentCache::Entry*>(segment);
  entry->next = cache_.free_[isReferences_];
  cache_.free_[isReferences_] = entry;
  ++cache_.count_[isReferences_];
}

}  // namespace baton::vm

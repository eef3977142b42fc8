// Counters behind MemoryStatistics for allocators that several threads may use.
#pragma once

#include <algorithm>
#include <atomic>

#include "allocators/allocator.h"

namespace baton {

/// Who calls allocate() and release() of an adaptor. Statistics may be read by anybody.
enum class AllocatorSharing : uint8_t {
  OneThread,  ///< one thread at a time: counting needs no read-modify-write
  Threads,
};

/// A number that is written as the sharing says and read by anybody.
class SharedCounter {
 public:
  uint64_t load() const { return value_.load(std::memory_order_relaxed); }
  /// The new value.
  uint64_t add(uint64_t amount, AllocatorSharing sharing) {
    if (sharing == AllocatorSharing::Threads)
      return value_.fetch_add(amount, std::memory_order_relaxed) + amount;
    const uint64_t sum = load() + amount;
    value_.store(sum, std::memory_order_relaxed);
    return sum;
  }
  uint64_t subtract(uint64_t amount, AllocatorSharing sharing) { return add(0 - amount, sharing); }
  void raiseTo(uint64_t least, AllocatorSharing sharing) {
    uint64_t known = load();
    if (sharing == AllocatorSharing::OneThread) {
      if (known < least) value_.store(least, std::memory_order_relaxed);
      return;
    }
    while (known < least && !value_.compare_exchange_weak(known, least, std::memory_order_relaxed)) {
    }
  }
  /// Adds `amount` unless the sum would exceed `limit`.
  bool addWithin(uint64_t amount, uint64_t limit, AllocatorSharing sharing) {
    uint64_t known = load();
    while (true) {
      if (known > limit || amount > limit - known) return false;
      if (sharing == AllocatorSharing::OneThread) {
        value_.store(known + amount, std::memory_order_relaxed);
        return true;
      }
      if (value_.compare_exchange_weak(known, known + amount, std::memory_order_relaxed)) return true;
    }
  }

 private:
  std::atomic<uint64_t> value_{0};
};

class MemoryCounters {
 public:
  explicit MemoryCounters(AllocatorSharing sharing) : sharing_(sharing) {}

  AllocatorSharing sharing() const { return sharing_; }
  void countAllocation(uint64_t sizeBytes) {
    peakInUse_.raiseTo(inUse_.add(sizeBytes, sharing_), sharing_);
    allocations_.add(1, sharing_);
  }
  void countRelease(uint64_t sizeBytes) {
    inUse_.subtract(sizeBytes, sharing_);
    releases_.add(1, sharing_);
  }
  uint64_t inUse() const { return inUse_.load(); }

  /// In use and counts from here, the rest from the allocator below.
  MemoryStatistics over(const MemoryStatistics& below) const {
    MemoryStatistics result = below;
    result.inUseBytes = inUse();
    result.peakInUseBytes = std::max(peakInUse_.load(), result.inUseBytes);
    result.allocationCount = allocations_.load();
    result.releaseCount = releases_.load();
    return result;
  }

 private:
  const AllocatorSharing sharing_;
  SharedCounter inUse_;
  SharedCounter peakInUse_;
  SharedCounter allocations_;
  SharedCounter releases_;
};

}  // namespace baton

// Runs of pages inside chunks of an upstream allocator: best fit, split on the way out,
// merged with their neighbours on the way in.
#pragma once

#include <memory>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "allocators/allocator.h"
#include "allocators/pool_size_classes.h"

namespace baton {

/// What a run of pages is cut into, when it is cut.
struct PoolSlab;

/// Neighbouring pages that are used or free together. Kept apart from the pages, which may
/// be of a device.
struct PageRun {
  std::byte* data = nullptr;
  size_t pages = 0;
  bool free = true;
  PageRun* before = nullptr;  // neighbours in the same chunk
  PageRun* after = nullptr;
  PoolSlab* slab = nullptr;
  boost::intrusive::set_member_hook<> byAddress;
  boost::intrusive::set_member_hook<> bySize;  // while it is free

  size_t sizeBytes() const { return pages * kPageBytes; }
};

/// One thread at a time.
class PageHeap {
 public:
  PageHeap(Allocator& upstream, bool hostMemory) : upstream_(upstream), hostMemory_(hostMemory) {}
  ~PageHeap();
  PageHeap(const PageHeap&) = delete;
  PageHeap& operator=(const PageHeap&) = delete;

  /// A run of exactly so many pages from the chunks that are there, or null.
  PageRun* take(size_t pages);
  /// Another chunk that holds so many pages, or the upstream's error. Chunks that are free
  /// altogether but too small go back first, and the new one is as large as all of them: so
  /// growth by small chunks does not end in memory that only small runs can use.
  Result<void> grow(size_t pages);
  void giveBack(PageRun* run);
  /// The run that contains an address within a run in use.
  PageRun* find(const void* address);
  /// Returns chunks that are free altogether; the number of pages.
  size_t trim();

  uint64_t reservedBytes() const { return reservedBytes_; }
  uint64_t peakReservedBytes() const { return peakReservedBytes_; }
  uint64_t chunkRequestCount() const { return chunkRequestCount_; }

 private:
  struct AddressOf {
    using type = const std::byte*;
    type operator()(const PageRun& run) const { return run.data; }
  };
  struct SmallerThenLower {
    bool operator()(const PageRun& a, const PageRun& b) const {
      return a.pages != b.pages ? a.pages < b.pages : a.data < b.data;
    }
  };
  using ByAddress = boost::intrusive::set<
      PageRun, boost::intrusive::key_of_value<AddressOf>,
      boost::intrusive::member_hook<PageRun, boost::intrusive::set_member_hook<>, &PageRun::byAddress>>;
  using BySize = boost::intrusive::set<
      PageRun, boost::intrusive::compare<SmallerThenLower>,
      boost::intrusive::member_hook<PageRun, boost::intrusive::set_member_hook<>, &PageRun::bySize>>;

  PageRun* newRun();
  void dropRun(PageRun* run);

  Allocator& upstream_;
  const bool hostMemory_;
  ByAddress byAddress_;
  BySize freeBySize_;
  std::vector<std::unique_ptr<PageRun[]>> storage_;  // of all runs, recycled through spare_
  PageRun* spare_ = nullptr;                         // linked by `after`
  uint64_t reservedBytes_ = 0;
  uint64_t peakReservedBytes_ = 0;
  uint64_t chunkRequestCount_ = 0;
};

}  // namespace baton

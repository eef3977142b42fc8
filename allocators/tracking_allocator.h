// Adaptor for looking for mistakes: knows every block, where it was asked for, and whether
// it was given back the way it was taken. Slow.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "allocators/allocator.h"

namespace baton {

/// As thread-safe as the allocator below and the site function.
class TrackingAllocator final : public Allocator {
 public:
  /// Says where the program is at this moment ("@main pc 12"); called with each request.
  using SiteFunction = std::function<std::string()>;

  explicit TrackingAllocator(Allocator& below, SiteFunction site = {})
      : below_(below), site_(std::move(site)) {}

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override;
  void trim() noexcept override { below_.trim(); }
  MemoryStatistics statistics() const override { return below_.statistics(); }

  struct Block {
    size_t sizeBytes = 0;
    size_t alignment = 0;
    uint64_t request = 0;  ///< number of the request, from 1
    std::string site;
  };
  /// Blocks that were not given back, in the order of their requests.
  std::vector<Block> leaks() const;
  /// Blocks given back twice, never taken, or with another size or alignment; one line each.
  /// They do not reach the allocator below, unless they were taken from it.
  std::vector<std::string> misuses() const;
  /// leaks() and misuses() as text; empty when there are none.
  std::string report() const;

 private:
  Allocator& below_;
  SiteFunction site_;
  mutable std::mutex mutex_;
  std::map<void*, Block> blocks_;
  std::vector<std::string> misuses_;
  uint64_t requestCount_ = 0;
};

}  // namespace baton

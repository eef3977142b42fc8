// Adaptor for tests: refuses chosen requests, so that a sweep can prove that every failure
// is a clean error.
#pragma once

#include <atomic>

#include "allocators/allocator.h"

namespace baton {

/// As thread-safe as the allocator below.
class FailingAllocator final : public Allocator {
 public:
  enum class Mode { Once, FromThenOn };

  explicit FailingAllocator(Allocator& below) : below_(below) {}

  /// Refuses the n-th request from now on (the next one is 1), and in FromThenOn all after
  /// it; 0 refuses none.
  void refuse(uint64_t n, Mode mode = Mode::Once);
  /// Requests since the last refuse(), those refused included.
  uint64_t requestCount() const { return requests_.load(std::memory_order_relaxed); }

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override {
    below_.release(data, sizeBytes, alignment);
  }
  void trim() noexcept override { below_.trim(); }
  MemoryStatistics statistics() const override { return below_.statistics(); }

 private:
  Allocator& below_;
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<Mode> mode_{Mode::Once};
};

}  // namespace baton

#include "vm/memory.h"

namespace baton::vm {

namespace {

/// Without a pool the local allocator is the shared one.
class Forwarding final : public Allocator {
 public:
  explicit Forwarding(Allocator& below) : below_(below) {}
  Result<void*> allocate(size_t sizeBytes, size_t alignment) override {
    return below_.allocate(sizeBytes, alignment);
  }
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override {
    below_.release(data, sizeBytes, alignment);
  }
  void trim() noexcept override { below_.trim(); }
  MemoryStatistics statistics() const override { return below_.statistics(); }

 private:
  Allocator& below_;
};

}  // namespace

std::unique_ptr<Allocator> Memory::makeLocal() {
  if (pool_) return std::make_unique<PoolAllocator>(*pool_);
  return std::make_unique<Forwarding>(limiting_);
}

}  // namespace baton::vm

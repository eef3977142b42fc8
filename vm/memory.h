// Where all memory of an instance comes from. Kept alive by everything that holds some of
// it, so that values outlive contexts, executables and the instance itself.
#pragma once

#include <memory>
#include <mutex>

#include "allocators/allocator.h"
#include "allocators/cpu_device.h"
#include "allocators/failing_allocator.h"
#include "allocators/limiting_allocator.h"
#include "allocators/pool_allocator.h"
#include "allocators/pool_backend.h"
#include "allocators/system_allocator.h"
#include "vm/retainable.h"

namespace baton::vm {

class Memory final : public Retainable {
 public:
  enum class Kind : uint8_t {
    Pool,    ///< blocks are kept and handed out again
    System,  ///< every block comes from the system and goes back to it
  };
  struct Options {
    Kind kind = Kind::Pool;
    uint64_t limitBytes = LimitingAllocator::kUnlimited;
    /// Refuses the n-th request to the system, counted from 1, and all after it; 0: none. For tests.
    uint64_t refuseRequest = 0;
  };

  explicit Memory(const Options& options)
      : system_(device_), failing_(system_), limiting_(failing_, options.limitBytes) {
    failing_.refuse(options.refuseRequest, FailingAllocator::Mode::FromThenOn);
    if (options.kind == Kind::Pool) pool_ = std::make_unique<PoolBackend>(limiting_);
  }

  /// For any thread; takes back what any allocator of this instance handed out.
  Allocator& shared() { return pool_ ? static_cast<Allocator&>(*pool_) : limiting_; }
  /// For one thread at a time. Not to outlive this.
  std::unique_ptr<Allocator> makeLocal();

  /// In use as it was asked for, reserved as the system sees it.
  MemoryStatistics statistics() const { return pool_ ? pool_->statistics() : limiting_.statistics(); }
  void trim() { shared().trim(); }
  FailingAllocator& failing() { return failing_; }

 private:
  CpuDevice device_;
  SystemAllocator system_;
  FailingAllocator failing_;
  LimitingAllocator limiting_;
  std::unique_ptr<PoolBackend> pool_;
};

}  // namespace baton::vm

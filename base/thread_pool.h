// The threads of an instance: parallel loops in which the caller takes part. Several calls
// share a pool by taking the workers that are free at that moment, never waiting for one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/error.h"

namespace baton {

/// Thread-safe, except for its destruction. Workers run in the float environment of the
/// numeric contract (fp_environment.h).
class ThreadPool {
 public:
  struct Options {
    /// Threads that may work on one region, the caller included; 1 starts no thread at all,
    /// 0 takes one for each CPU that this process may use.
    int threadCount = 0;
    /// How long a worker looks for the next region before it sleeps, while a call runs.
    std::chrono::microseconds spin{200};
  };

  /// Handles the indices [begin, end); 0 is success.
  using Body = int32_t (*)(void* closure, int64_t begin, int64_t end);

  /// OutOfMemory when the system refuses a thread, InvalidArgument for a negative count.
  static Result<std::unique_ptr<ThreadPool>> create(Options options);
  ~ThreadPool();

  int threadCount() const { return threadCount_; }

  /// While one lives, workers stay awake between regions; without any they sleep at once.
  class CallScope {
   public:
    explicit CallScope(ThreadPool& pool) : pool_(pool) {
      pool_.runningCalls_.fetch_add(1, std::memory_order_relaxed);
    }
    ~CallScope() { pool_.runningCalls_.fetch_sub(1, std::memory_order_relaxed); }
    CallScope(const CallScope&) = delete;
    CallScope& operator=(const CallScope&) = delete;

   private:
    ThreadPool& pool_;
  };

  /// Runs `body` over [0, extent) in disjoint pieces of at least `grain` indices (one
  /// piece when there are fewer) and returns when all are done. Returns 0, or the first non-zero value
  /// of a piece, after which pieces that have not begun are left out. A piece goes to the
  /// same thread from region to region as long as the same workers are free. Within a region
  /// a nested one runs in its caller alone. `body` must not throw.
  int32_t parallelFor(int64_t extent, int64_t grain, Body body, void* closure);

  template <class F>
  int32_t parallelFor(int64_t extent, int64_t grain, F&& f) {
    using Function = std::remove_reference_t<F>;
    const Body body = [](void* closure, int64_t begin, int64_t end) -> int32_t {
      Function& function = *static_cast<Function*>(closure);
      if constexpr (std::is_void_v<std::invoke_result_t<Function&, int64_t, int64_t>>) {
        function(begin, end);
        return 0;
      } else {
        return function(begin, end);
      }
    };
    return parallelFor(extent, grain, body, const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  struct Region;
  struct Worker;

  explicit ThreadPool(Options options, int threadCount);
  void runWorker(Worker& worker);
  /// The region that this worker took, or null when the pool ends.
  Region* waitForRegion(Worker& worker);

  const int threadCount_;
  const std::chrono::microseconds spin_;
  std::unique_ptr<Worker[]> workers_;  // threadCount_ - 1
  std::atomic<int32_t> runningCalls_{0};
  std::atomic<bool> stopping_{false};
};

}  // namespace baton

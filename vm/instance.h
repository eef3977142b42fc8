// An instance: memory, threads, the log, and the values that belong to no context.
#pragma once

#include <memory>
#include <mutex>

#include "base/log.h"
#include "base/thread_pool.h"
#include "vm/deadline_timer.h"
#include "vm/heap.h"
#include "vm/memory.h"

namespace baton::vm {

/// Objects that are shared from birth, made by any thread.
class SharedHeap {
 public:
  static Result<std::unique_ptr<SharedHeap>> create(Memory& memory);
  ~SharedHeap();

  /// Calls `make(heap)`, which returns a new object or null, with the heap locked. What it
  /// returns, and what that refers to and is not shared yet, becomes shared.
  template <class F>
  Result<Object*> make(F&& f) {
    const std::lock_guard lock(mutex_);
    heap_->drainRemote();
    Object* object = f(*heap_);
    if (!object) return heap_->takeFailure();
    markShared(object);
    return object;
  }
  void trim() {
    const std::lock_guard lock(mutex_);
    heap_->trim();
  }

 private:
  explicit SharedHeap(std::unique_ptr<Allocator> local) : local_(std::move(local)) {}
  void markShared(Object* object);

  std::mutex mutex_;
  std::unique_ptr<Allocator> local_;
  Heap* heap_ = nullptr;
};

struct InstanceOptions {
  ThreadPool::Options threads;
  Memory::Options memory;
  std::unique_ptr<LogSink> log;  ///< null: nothing is logged
};

class Instance final : public Retainable {
 public:
  static Result<Ref<Instance>> create(InstanceOptions options);

  Memory& memory() const { return *memory_; }
  ThreadPool& threads() const { return *threads_; }
  DeadlineTimer& timer() const { return timer_; }
  SharedHeap& values() const { return *values_; }
  LogSink& log() const { return *log_; }

  /// Gives unused memory back to the system.
  void trim() const {
    values_->trim();
    memory_->trim();
  }

 private:
  Instance() = default;

  Ref<Memory> memory_;
  std::unique_ptr<LogSink> log_;
  std::unique_ptr<ThreadPool> threads_;
  std::unique_ptr<SharedHeap> values_;
  mutable DeadlineTimer timer_;
};

}  // namespace baton::vm

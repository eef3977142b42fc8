// What a call offers to the kernels that it runs: parallel loops, scratch memory, a place
// for the reason of a failure; and the time that they take, when somebody wants to know.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "allocators/arena_allocator.h"
#include "base/thread_pool.h"
#include "baton/kernel_abi.h"
#include "vm/kernel_binding.h"
#include "vm/machine.h"

namespace baton::vm {

/// Receives the time of every kernel call; null when nobody wants it.
class KernelObserver {
 public:
  virtual void onKernel(uint32_t kernel, uint64_t nanoseconds) = 0;

 protected:
  ~KernelObserver() = default;
};

class KernelRunner {
 public:
  KernelRunner(const KernelBinding* bindings, ThreadPool& threads, Allocator& scratch);
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;

  const KernelBinding& binding(uint32_t kernel) const { return bindings_[kernel]; }

  /// Runs a kernel whose operands have passed its plan. False, with an error in the machine, when it
  /// fails. `fuel` is reduced by what an interpreted kernel did.
  bool run(uint32_t kernel, void* const* buffers, int64_t* scalars, Machine& machine, int64_t& fuel);

  void setObserver(KernelObserver* observer) { observer_ = observer; }
  /// Instructions that interpreted kernels may still execute before the call's limit is reached.
  int64_t instructionsLeft = INT64_MAX;

 private:
  int32_t invoke(const KernelBinding& binding, void* const* buffers, int64_t* scalars, Machine& machine,
                 int64_t& fuel);
  bool explainFailure(const KernelBinding& binding, int32_t code, Machine& machine);
  static KernelRunner& of(const BatonKernelContext* context) {
    return *static_cast<KernelRunner*>(context->user);
  }
  static int32_t parallelFor(const BatonKernelContext* context, int64_t extent, int64_t grain,
                             BatonParallelBody body, void* closure);
  static void* scratch(const BatonKernelContext* context, uint64_t sizeBytes);
  static void fail(const BatonKernelContext* context, uint32_t message, const int64_t* values,
                   uint32_t valueCount);

  const KernelBinding* bindings_;
  ThreadPool& threads_;
  BatonKernelContext context_;
  KernelObserver* observer_ = nullptr;

  std::mutex mutex_;  // of what follows: kernels may use several threads
  ArenaAllocator arena_;
  bool usedScratch_ = false;
  static constexpr uint32_t kMaxValues = 8;
  bool hasFailed_ = false;
  uint32_t failedMessage_ = 0;
  uint32_t failedValueCount_ = 0;
  uint64_t failedValues_[kMaxValues] = {};
  std::string scratchFailure_;
};

}  // namespace baton::vm

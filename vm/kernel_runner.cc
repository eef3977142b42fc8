#include "vm/kernel_runner.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "vm/message.h"

namespace baton::vm {

namespace {

/// Results of an interpreted kernel that was told to stop.
constexpr int32_t kStoppedByInterrupt = 1000;
constexpr int32_t kStoppedByLimit = 1001;

struct Progress {
  Machine* machine;
  int64_t done = 0;
  int64_t left;
  static int32_t onProgress(void* user, uint64_t instructions) {
    auto& self = *static_cast<Progress*>(user);
    self.done += static_cast<int64_t>(instructions);
    if (self.done > self.left) return kStoppedByLimit;
    const uint32_t interrupt = self.machine->interrupt.load(std::memory_order_relaxed);
    return interrupt & (kInterruptCancel | kInterruptDeadline) ? kStoppedByInterrupt : 0;
  }
};

}  // namespace

KernelRunner::KernelRunner(const KernelBinding* bindings, ThreadPool& threads, Allocator& scratch)
    : bindings_(bindings), threads_(threads), arena_(scratch) {
  context_ = {.struct_size = sizeof(BatonKernelContext),
              .abi_version = BATON_KERNEL_ABI_VERSION,
              .user = this,
              .parallel_for = &KernelRunner::parallelFor,
              .scratch = &KernelRunner::scratch,
              .fail = &KernelRunner::fail};
}

bool KernelRunner::run(uint32_t kernel, void* const* buffers, int64_t* scalars, Machine& machine,
                       int64_t& fuel) {
  const KernelBinding& binding = bindings_[kernel];
  int32_t code;
  if (!observer_) [[likely]] {
    code = invoke(binding, buffers, scalars, machine, fuel);
  } else {
    const auto begin = std::chrono::steady_clock::now();
    code = invoke(binding, buffers, scalars, machine, fuel);
    const auto taken = std::chrono::steady_clock::now() - begin;
    observer_->onKernel(kernel, static_cast<uint64_t>(std::chrono::nanoseconds(taken).count()));
  }
  if (usedScratch_) [[unlikely]] {
    arena_.reset();
    usedScratch_ = false;
  }
  return code == BATON_KERNEL_OK ? true : explainFailure(binding, code, machine);
}

int32_t KernelRunner::invoke(const KernelBinding& binding, void* const* buffers, int64_t* scalars,
                             Machine& machine, int64_t& fuel) {
  if (binding.function) [[likely]]
    return binding.function(&context_, buffers, scalars);
  Progress progress{.machine = &machine, .left = instructionsLeft};
  loop::InterpreterLimits limits;
  limits.onProgress = &Progress::onProgress;
  limits.user = &progress;
  const int32_t code = binding.interpreted->run(&context_, buffers, scalars, limits);
  fuel -= progress.done;
  instructionsLeft -= progress.done;
  return code;
}

bool KernelRunner::explainFailure(const KernelBinding& binding, int32_t code, Machine& machine) {
  const std::string& name = binding.descriptor->name;
  const bool hadReason = std::exchange(hasFailed_, false);
  switch (code) {
    case BATON_KERNEL_FAILED: {
      if (!hadReason) return machine.failProgram(fmt::format("kernel {} failed without saying why", name));
      const std::span<const uint64_t> values(failedValues_, failedValueCount_);
      if (failedMessage_ == loop::InterpretedKernel::kIndexOutOfRange)
        return machine.failProgram(
            fmt::format("kernel {}: index {} is outside of an extent of {} (buffer {}, axis {})", name,
                        static_cast<int64_t>(failedValues_[0]), static_cast<int64_t>(failedValues_[1]),
                        static_cast<int64_t>(failedValues_[2]), static_cast<int64_t>(failedValues_[3])));
      if (failedMessage_ >= binding.descriptor->messages.size())
        return machine.failProgram(
            fmt::format("kernel {} failed with unknown message {}", name, failedMessage_));
      return machine.failProgram(formatMessage(binding.descriptor->messages[failedMessage_], values));
    }
    case BATON_KERNEL_OUT_OF_MEMORY:
      return machine.fail(ErrorCode::OutOfMemory, scratchFailure_.empty()
                                                      ? fmt::format("kernel {} could not get memory", name)
                                                      : fmt::format("kernel {}: {}", name, scratchFailure_));
    case BATON_KERNEL_PENDING:
      return machine.fail(ErrorCode::Unsupported, fmt::format("kernel {} cannot suspend its call", name));
    case kStoppedByInterrupt: return false;  // whoever runs the call looks at the interrupt
    case kStoppedByLimit:
      return machine.fail(ErrorCode::LimitReached,
                          fmt::format("instruction limit reached in kernel {}", name));
    default: return machine.failProgram(fmt::format("kernel {} failed with code {}", name, code));
  }
}

int32_t KernelRunner::parallelFor(const BatonKernelContext* context, int64_t extent, int64_t grain,
                                  BatonParallelBody body, void* closure) {
  return of(context).threads_.parallelFor(
      extent, grain, [=](int64_t begin, int64_t end) { return body(context, closure, begin, end); });
}

void* KernelRunner::scratch(const BatonKernelContext* context, uint64_t sizeBytes) {
  KernelRunner& self = of(context);
  const std::lock_guard lock(self.mutex_);
  self.usedScratch_ = true;
  Result<void*> memory = self.arena_.allocate(sizeBytes, kTensorAlignment);
  if (memory.has_value()) return memory.assume_value();
  self.scratchFailure_ = memory.assume_error().message();
  return nullptr;
}

void KernelRunner::fail(const BatonKernelContext* context, uint32_t message, const int64_t* values,
                        uint32_t valueCount) {
  KernelRunner& self = of(context);
  const std::lock_guard lock(self.mutex_);
  if (self.hasFailed_) return;  // the first reason counts
  self.hasFailed_ = true;
  self.failedMessage_ = message;
  self.failedValueCount_ = std::min(valueCount, kMaxValues);
  std::copy_n(values, self.failedValueCount_, self.failedValues_);
}

}  // namespace baton::vm

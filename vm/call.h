// A call: one invocation of an entry point, with its own stack. All of its state is data, so
// it can stop before any instruction and go on later.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "vm/context.h"
#include "vm/deadline_timer.h"
#include "vm/kernel_runner.h"
#include "vm/machine.h"
#include "vm/value.h"

namespace baton::vm {

struct CallLimits {
  uint64_t memoryBytes = Heap::kNoLimit;   ///< that the call may add to what its context holds
  uint64_t instructionCount = UINT64_MAX;  ///< checked at calls and backward jumps
  uint64_t callDepth = UINT64_MAX;         ///< frames
  uint64_t stackBytes = uint64_t{1} << 30;
  std::chrono::nanoseconds timeout{0};  ///< of running time; 0: none
};

enum class CallState : uint8_t { Ready = 0, Suspended = 1, Finished = 2, Failed = 3 };

/// One thread at a time; suspend() and cancel() from any.
class Call {
 public:
  Call(Ref<Context> context, const EntryPoint& entry);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const EntryPoint& entryPoint() const { return entry_; }
  CallState state() const { return state_; }

  /// Retains the value. A donated one is handed to the program when nobody else holds it.
  Result<void> setInput(size_t index, Ref<Value> value, bool isDonated, ErrorDetails& details);
  Result<void> setLimits(const CallLimits& limits);

  /// Runs until the call ends, until suspend() takes effect, or for this many instructions.
  /// Starts the call when it is ready. After an error the state is Failed.
  Result<CallState> advance(std::optional<uint64_t> instructionCount, ErrorDetails& details);
  void suspend() { machine_.interrupt.fetch_or(kInterruptSuspend, std::memory_order_relaxed); }
  void cancel() { machine_.interrupt.fetch_or(kInterruptCancel, std::memory_order_relaxed); }
  /// Back to Ready: ends what runs, forgets inputs and result, keeps limits.
  void reset();

  /// The result of a finished call.
  Result<Ref<Value>> result() const;
  uint64_t instructionCount() const { return executed_; }
  struct Backtrace {
    std::vector<ProgramLocation> frames;  ///< innermost first, those of inlined functions, too
    uint64_t omittedCount = 0;            ///< frames of the stack beyond those
  };
  /// Where a suspended call stands; at most `limit` frames of the stack.
  Backtrace backtrace(size_t limit) const;
  static constexpr size_t kMaxFrames = 64;  ///< of an error's backtrace

 private:
  struct Input {
    Ref<Value> value;
    bool isDonated = false;
  };

  Result<void> start(ErrorDetails& details);
  void passArguments();
  Result<CallState> run(std::optional<uint64_t> instructionCount);
  Stop runSlice();
  Result<CallState> finish();
  Error takeFailure();
  Error failAt(ErrorCode code, std::string message);
  Error locate(Error failure) const;
  void endRun(CallState state);
  Result<Ref<Value>> wrap(const TypeInfo& type, uint64_t bits, Object* object);

  Ref<Context> context_;
  const EntryPoint& entry_;
  CallLimits limits_;
  CallState state_ = CallState::Ready;
  std::vector<Input> inputs_;
  Machine machine_;
  KernelRunner kernels_;
  DeadlineTimer::Deadline deadline_;
  std::chrono::nanoseconds timeUsed_{0};
  int64_t memoryUsed_ = 0;  // what the call added to the context's heap so far
  uint64_t executed_ = 0;
  Ref<Value> result_;
};

}  // namespace baton::vm

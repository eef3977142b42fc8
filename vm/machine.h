// What executing instructions needs of a call: its heap, its code, its stack, its limits,
// and the registers of the machine while it does not run.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "bytecode/program.h"
#include "vm/call_stack.h"
#include "vm/heap.h"

namespace baton::vm {

class KernelRunner;

/// Why execution left the dispatch loop.
enum class Stop : uint8_t {
  Finished,  ///< the outermost function returned
  Failed,    ///< Machine::error says how
  Poll,      ///< before an instruction: no fuel, or somebody asked to stop
};

/// Bits of Machine::interrupt.
enum Interrupt : uint32_t {
  kInterruptSuspend = 1,
  kInterruptCancel = 2,
  kInterruptDeadline = 4,
};

struct Machine {
  Machine(Heap& heap, SegmentCache& segments)
      : heap(&heap), scalarStack(segments, false), referenceStack(segments, true) {}

  // -- Read while running -----------------------------------------------------------------
  Heap* heap;
  const FunctionCode* functions = nullptr;
  Object* const* constants = nullptr;
  KernelRunner* kernels = nullptr;
  const bytecode::Program* program = nullptr;
  uint64_t* scalarEnd = nullptr;  ///< of the segments in use
  Object** referenceEnd = nullptr;
  uint64_t depth = 0;  ///< frames below the current one
  uint64_t depthLimit = UINT64_MAX;
  /// Set by other threads and the deadline timer.
  std::atomic<uint32_t> interrupt{0};

  /// Where enterSegment() says what it made.
  struct {
    uint64_t* s;
    Object** r;
    uintptr_t flags;
  } newWindow{};

  // -- The registers, while nothing runs --------------------------------------------------
  const uint64_t* pc = nullptr;
  uint64_t* scalars = nullptr;
  Object** references = nullptr;
  int64_t fuel = 0;  ///< instructions that may be executed until the next stop

  bool hasFinished = false;  ///< the outermost function has returned; the results are below
  std::optional<Error> error;
  bool lacksMemory = false;  ///< memory was refused where it would have been needed to say so
  std::vector<uint64_t> scalarResults;
  std::vector<Object*> referenceResults;

  StackBank scalarStack;
  StackBank referenceStack;
  uint64_t stackLimitBytes = uint64_t{1} << 30;

  /// Ends the run with an error; for `return m.fail(...)` in instructions.
  bool fail(ErrorCode code, std::string message) {
    error.emplace(code, std::move(message));
    return false;
  }
  bool fail(Error failure) {
    error.emplace(std::move(failure));
    return false;
  }
  bool failProgram(std::string message) { return fail(ErrorCode::ProgramError, std::move(message)); }
  /// After an allocation was refused.
  [[gnu::cold]] bool failAllocation();
  /// Where memory for a message was refused.
  bool lackMemory() noexcept {
    lacksMemory = true;
    return false;
  }

  /// Opens the outermost frame of a function: its registers are where arguments go.
  Result<void> enterOutermost(const FunctionCode& function);
  /// Releases everything that frames hold and leaves the stack empty.
  void unwind();
  bool isRunning() const { return scalars != nullptr; }
};

/// The frames of a machine, innermost first.
class FrameWalk {
 public:
  explicit FrameWalk(const Machine& machine) : scalars_(machine.scalars), at_(machine.pc) {}
  bool isDone() const { return scalars_ == nullptr; }
  const FunctionCode& function() const { return *record().function; }
  /// A word of the instruction that this frame is at.
  const uint64_t* at() const { return at_; }
  void next() {
    const auto caller = reinterpret_cast<uintptr_t>(record().callerScalars);
    at_ = reinterpret_cast<const uint64_t*>((reinterpret_cast<uintptr_t>(record().results) - 1) &
                                            ~uintptr_t{7});
    scalars_ =
        caller & kFrameIsOutermost ? nullptr : reinterpret_cast<uint64_t*>(caller & ~uintptr_t{kFrameFlags});
  }

 private:
  const FrameRecord& record() const { return FrameRecord::of(scalars_); }
  uint64_t* scalars_;
  const uint64_t* at_;
};

}  // namespace baton::vm

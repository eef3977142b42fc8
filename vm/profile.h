// Where the time of a context's calls went: one row for each function and kernel.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "vm/dispatch.h"
#include "vm/kernel_runner.h"

namespace baton::vm {

class Executable;

/// Time is taken when execution moves from one function to another and around kernels, so that a
/// row holds what was spent in itself.
class Profile final : public InstructionObserver, public KernelObserver {
 public:
  explicit Profile(const Executable& executable);

  void onInstruction(const FunctionCode& function, const uint64_t* pc) override;
  void onKernel(uint32_t kernel, uint64_t nanoseconds) override;
  /// Around a stretch of execution; time outside of them is nobody's.
  void begin();
  void end();

  struct Row {
    bool isKernel = false;
    const std::string* name = nullptr;
    uint64_t count = 0;
    uint64_t nanoseconds = 0;
    uint64_t instructionCount = 0;
  };
  /// Of what ran, longest first.
  std::vector<Row> rows() const;
  void reset();

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    uint64_t count = 0;
    int64_t nanoseconds = 0;
    uint64_t instructionCount = 0;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  void charge(Clock::time_point now);

  const Executable& executable_;
  std::vector<Entry> functions_;
  std::vector<Entry> kernels_;
  uint32_t current_ = kNone;
  Clock::time_point since_;
};

}  // namespace baton::vm

// Runs loop IR without native code, bit for bit as native code does, checking every index:
// the portable way to run a kernel, the oracle for generated code, and the constant folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.h"
#include "baton/kernel_abi.h"
#include "kernels/loop/kernel.h"

namespace baton::loop {

/// Bounds an interpreted run. Work is counted in instructions of the flat program.
struct InterpreterLimits {
  /// Called about every `interval` instructions with the number done since the last call; a
  /// result other than 0 stops the run, which then returns it.
  int32_t (*onProgress)(void* user, uint64_t instructions) = nullptr;
  void* user = nullptr;
  uint64_t interval = 1 << 16;
};

/// A kernel compiled to the interpreter's flat form. Immutable; may be run by several threads.
class InterpretedKernel {
 public:
  /// The kernel must have passed verify().
  static Result<InterpretedKernel> compile(const Kernel& kernel);
  InterpretedKernel(InterpretedKernel&&) noexcept;
  InterpretedKernel& operator=(InterpretedKernel&&) noexcept;
  ~InterpretedKernel();

  /// As a BatonKernelFunction (kernel_abi.h): scalars[] begins with the symbols' values, which
  /// give the buffers' sizes, so the caller must have checked its operands against the
  /// descriptor. Parallel loops run in order on this thread. Returns BATON_KERNEL_OK,
  /// BATON_KERNEL_FAILED after calling ctx->fail, BATON_KERNEL_OUT_OF_MEMORY, or what
  /// onProgress returned. An index out of range fails with message kIndexOutOfRange and the
  /// values index, extent, buffer, axis.
  int32_t run(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars,
              const InterpreterLimits& limits = {}) const;

  static constexpr uint32_t kIndexOutOfRange = 0xFFFFFFFF;

 private:
  struct Program;
  friend class InterpreterCompiler;
  explicit InterpretedKernel(std::unique_ptr<const Program> program);
  std::unique_ptr<const Program> program_;
};

}  // namespace baton::loop

// Compares what a kernel gives when interpreted and when compiled.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernel_harness.h"
#include "kernels/loop/kernel.h"

namespace baton::testing {

/// Operands of one run: inputs are read, outputs are compared.
struct KernelRun {
  std::vector<std::vector<std::byte>> inputs;
  std::vector<size_t> outputBytes;
  std::vector<int64_t> scalars;  ///< symbols, scalar inputs, scalar outputs
};

/// What a run left behind.
struct Outcome {
  int32_t status = 0;
  uint32_t message = 0;
  std::vector<int64_t> values;
  std::vector<int64_t> scalars;
  std::vector<std::vector<std::byte>> outputs;
};

using CompiledKernel = std::function<int32_t(const BatonKernelContext*, void* const*, int64_t*)>;
/// Empty, or what is wrong: then no other follows.
using CompiledVisitor = std::function<std::string(const std::string& how, const CompiledKernel&)>;

/// Compiles the kernel in the ways of the test that this is linked into (native_harness.cc, c_harness.cc).
/// Empty, or what failed.
std::string forEachCompiled(const loop::Kernel& kernel, const CompiledVisitor& visit);

/// Empty when all agree with the interpreter bit for bit (NaNs aside) for every run; else what differs
/// first.
std::string compareAll(const loop::Kernel& kernel, const std::vector<KernelRun>& runs);

/// Vectors of one extent, `n`.
KernelDescriptor vectorDescriptor(DType in, DType out, size_t inputs = 1, size_t outputs = 1);

}  // namespace baton::testing

// Compares what a kernel gives when interpreted and as native code at every level that this
// machine can run.
#pragma once

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

/// Empty when all agree bit for bit (NaNs aside) for every run; else what differs first.
std::string compareAll(const loop::Kernel& kernel, const std::vector<KernelRun>& runs);

/// Vectors of one extent, `n`.
KernelDescriptor vectorDescriptor(DType in, DType out, size_t inputs = 1, size_t outputs = 1);

/// "x86-64-v3", "native" and, where the machine has it, "x86-64-v4".
std::vector<std::string> runnableLevels();

}  // namespace baton::testing

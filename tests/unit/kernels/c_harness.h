// Kernels as C source, compiled by the system's compiler and loaded.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "baton/kernel_abi.h"
#include "kernels/loop/kernel.h"

namespace baton::testing {

/// The functions of kernels, for as long as it lives.
class LoadedSource {
 public:
  /// `optimisation` as the compiler's: "-O1".
  static Result<LoadedSource> make(std::span<const loop::Kernel> kernels, const char* optimisation);
  BatonKernelFunction function(size_t kernel) const { return functions_[kernel]; }

 private:
  struct Unload {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Unload> library_;
  std::vector<BatonKernelFunction> functions_;
};

}  // namespace baton::testing

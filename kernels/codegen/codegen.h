// Loop IR to native code: many kernels become one flat, position-independent image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "kernels/loop/kernel.h"

namespace baton::codegen {

struct CodegenOptions {
  /// "x86-64-v3", "x86-64-v4", "armv8-a", or "native": what this machine has.
  std::string cpu = "native";
  int optimisationLevel = 3;  ///< 0 to 3, as LLVM's
};

/// Code and constants in one piece: no relocations are left, nothing outside is referenced,
/// nothing in it is ever written. To be mapped read-execute at a page boundary.
struct NativeImage {
  std::vector<std::byte> bytes;
  /// Offset of the entry of each kernel, in the order given.
  std::vector<uint64_t> entries;
  /// As in the options.
  std::string level;
  /// Names as in kernels/abi/cpu_features.h; all are needed.
  std::vector<std::string> requiredFeatures;
};

/// The kernels must have passed loop::verify(). The same input gives the same bytes; `native`
/// depends on the machine. Uses the threads of the machine; may be called from several (linking takes turns).
Result<NativeImage> compileKernels(std::span<const loop::Kernel> kernels, const CodegenOptions& options);

/// Whether the vector registers of a level (or `native`) are 16 of 32 bytes, and not 32 of 64.
Result<bool> hasNarrowVectors(const std::string& cpu);

/// Optimised LLVM IR and assembly text of the kernels, for people.
Result<std::string> printLlvm(std::span<const loop::Kernel> kernels, const CodegenOptions& options);
Result<std::string> printAssembly(std::span<const loop::Kernel> kernels, const CodegenOptions& options);

}  // namespace baton::codegen

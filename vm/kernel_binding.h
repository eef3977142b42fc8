// Kernels of an executable bound to code: the native image that suits this machine, the
// interpreter of loop IR, or the runtime's own library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "baton/kernel_abi.h"
#include "bytecode/program.h"
#include "kernels/abi/image.h"
#include "kernels/loop/interpreter.h"
#include "vm/kernel_plan.h"

namespace baton::vm {

class Instance;
struct LoadOptions;

struct KernelBinding {
  KernelPlan plan;
  BatonKernelFunction function = nullptr;  ///< null: interpreted
  const loop::InterpretedKernel* interpreted = nullptr;
  const KernelDescriptor* descriptor = nullptr;
};

class KernelTable {
 public:
  /// Errors: Incompatible when no image suits this machine, Unsupported for a kernel without
  /// code that may run here; both name the kernel and what is missing.
  static Result<std::unique_ptr<KernelTable>> bind(const bytecode::Program& program, Instance& instance,
                                                   const LoadOptions& options);

  const KernelBinding* bindings() const { return bindings_.data(); }
  /// Level of the image in use; empty when there is none.
  const std::string& cpuLevel() const { return cpuLevel_; }

 private:
  KernelTable() = default;
  Result<const bytecode::NativeImage*> chooseImage(const bytecode::Program& program, Instance& instance,
                                                   const LoadOptions& options);
  Result<void> mapImage(const bytecode::Program& program, const bytecode::NativeImage& image,
                        Instance& instance);

  std::optional<NativeCode> code_;
  std::string cpuLevel_;
  std::vector<std::unique_ptr<loop::InterpretedKernel>> interpreted_;
  std::vector<KernelBinding> bindings_;
};

}  // namespace baton::vm

// Many kernels as one LLVM module. Private to kernels/codegen.
#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "kernels/codegen/cpu_target.h"
#include "kernels/loop/kernel.h"

namespace baton::codegen {

/// The symbol of the entry of kernel `index`.
std::string entryName(size_t index);

/// The kernels of an image that are compiled together.
struct ModulePart {
  std::span<const loop::Kernel> kernels;
  size_t first = 0;  ///< of all of the image
  /// Whether memset, memcpy and memmove are here, which the machine-code generator may call.
  bool hasMemoryRoutines = true;
};

/// Not yet optimised.
Result<std::unique_ptr<llvm::Module>> makeModule(llvm::LLVMContext& context, llvm::TargetMachine& machine,
                                                 const ModulePart& part, const CpuTarget& target);

}  // namespace baton::codegen

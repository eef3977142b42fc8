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

/// Not yet optimised. The module also has memset, memcpy and memmove of its own, since the
/// machine-code generator may call them.
Result<std::unique_ptr<llvm::Module>> makeModule(llvm::LLVMContext& context, llvm::TargetMachine& machine,
                                                 std::span<const loop::Kernel> kernels,
                                                 const CpuTarget& target);

}  // namespace baton::codegen

// LLVM's passes, and machine code from what they leave. Private to kernels/codegen.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include "base/error.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace baton::codegen {

void optimise(llvm::Module& module, llvm::TargetMachine& machine, int level);

/// A relocatable ELF object, or assembly text.
Result<llvm::SmallVector<char, 0>> emitMachineCode(llvm::Module& module, llvm::TargetMachine& machine,
                                                   bool asAssembly);

}  // namespace baton::codegen

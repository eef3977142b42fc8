// A program compiled to an executable and run by the runtime, through its public interface.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "compiler/ir/ir.h"

namespace baton::run {

struct CompiledProgram {
  std::vector<std::byte> bytes;  ///< of the .vmexe
};

/// Compiles for this machine, with kernels as native code and as loop IR. CompileError has
/// the diagnostics.
Result<CompiledProgram> compileProgram(const std::string& name, const std::string& text, int level,
                                       const std::vector<std::string>& entries);

/// The same of a module that the passes of the level have seen; with native code only.
Result<CompiledProgram> compileOptimised(ir::Module& module, int level);

/// The slow twins of what runs otherwise.
struct RunOptions {
  bool interpretsKernels = false;
  bool usesSwitch = false;  ///< the portable dispatch loop
};

/// Loads the bytes and calls the function with inputs in the order of its parameters. The
/// result as text. The code of an error is that of the runtime.
Result<std::string> runCompiled(const CompiledProgram& program, const std::string& entry,
                                const std::vector<std::string>& inputs, RunOptions options);

/// Saves the program and lets a new process (`self` with `--load`) load and run it.
Result<std::string> runInNewProcess(const std::string& self, const CompiledProgram& program,
                                    const std::string& entry, const std::vector<std::string>& inputs);

/// The main of that process: FILE ENTRY INPUT...; prints the result and gives the exit status.
int loadAndRun(const std::vector<std::string>& arguments);

}  // namespace baton::run

// A program compiled to an executable and run by the runtime, through its public interface.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "baton/baton.h"
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

/// A function with inputs in the order of its parameters.
struct EntryCall {
  std::string entry;
  std::vector<std::string> inputs;
};

/// A program in the runtime, loaded from its bytes, which must outlive it.
class LoadedProgram {
 public:
  static Result<LoadedProgram> load(const CompiledProgram& program, bool interpretsKernels = false);
  /// In a context of its own. The result as text. The code of an error is that of the runtime.
  Result<std::string> run(const EntryCall& call, bool usesSwitch = false) const;

 private:
  template <class T>
  using Owned = std::unique_ptr<T, void (*)(T*)>;
  LoadedProgram(Owned<baton_instance> instance, Owned<baton_executable> executable)
      : instance_(std::move(instance)), executable_(std::move(executable)) {}

  Owned<baton_instance> instance_;
  Owned<baton_executable> executable_;
};

/// Saves the program and lets a new process (`self` with `--load`) load it and run all calls.
Result<std::vector<Result<std::string>>> runInNewProcess(const std::string& self,
                                                         const CompiledProgram& program,
                                                         const std::vector<EntryCall>& calls);

/// The main of that process, with the files of the program and of the calls; gives the exit status.
int loadAndRun(const std::vector<std::string>& arguments);

}  // namespace baton::run

// From low-level form with registers assigned to the executable: code, debug positions,
// kernels as native images and loop IR.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "bytecode/program.h"
#include "compiler/lir/lir.h"

namespace baton::emit {

struct EmitOptions {
  std::vector<std::string> cpuLevels;  ///< one image each; none: no native code
  bool isPortable = false;             ///< kernels as loop-IR text, too
  int optimisationLevel = 3;           ///< of native code
  bytecode::Meta meta;                 ///< targets are filled in
};

/// The bodies of the module's kernels for a CPU level, in order of KernelIndex, without those of the library.
Result<std::vector<loop::Kernel>> kernelsFor(const lir::Module& module, const std::string& cpuLevel);

/// The same kernels before their loops were scheduled, each with the schedule that makes its body, as text.
Result<std::string> printSchedules(const lir::Module& module, const std::string& cpuLevel);

/// Takes the module apart. The result has passed the verifier; one that does not is an
/// Internal error.
Result<bytecode::Program> emit(lir::Module module, const EmitOptions& options);

}  // namespace baton::emit

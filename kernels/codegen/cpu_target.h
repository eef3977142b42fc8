// Which machine code is generated for: the names that options use, as LLVM wants them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace llvm {
class TargetMachine;
}

namespace baton::codegen {

struct CpuTarget {
  std::string level;                  ///< as in the options
  std::string triple;                 ///< LLVM's
  std::vector<std::string> required;  ///< names of kernels/abi/cpu_features.h
  std::string llvmCpu;                ///< gives the instructions
  std::string llvmTune;               ///< gives the costs
  std::string llvmFeatures;           ///< "+avx2,+fma", beyond what llvmCpu brings
  unsigned floatLanes = 8;            ///< of a vector register
};

/// "x86-64-v3", "x86-64-v4", "armv8-a" or "native". Every level has fused multiply-add and f16 conversions;
/// a machine without them cannot be `native`, nor one that is no x86-64.
Result<CpuTarget> cpuTarget(const std::string& name);

Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const CpuTarget& target,
                                                               int optimisationLevel);

}  // namespace baton::codegen

#include "kernels/codegen/cpu_target.h"

#include <fmt/format.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <mutex>

#include "kernels/abi/cpu_features.h"

namespace baton::codegen {

namespace {

constexpr const char* kX86 = "x86_64-unknown-linux-gnu";
constexpr const char* kArm = "aarch64-unknown-linux-gnu";

/// LLVM's registry of targets is process-wide and is filled once.
void registerTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
}

}  // namespace

Result<CpuTarget> cpuTarget(const std::string& name) {
  CpuTarget target{.level = name, .triple = kX86};
  const CpuFeatureSet v3 = *cpuLevelFeatures("x86-64-v3");
  const CpuFeatureSet v4 = *cpuLevelFeatures("x86-64-v4");
  CpuFeatureSet features = 0;
  if (name == "x86-64-v3" || name == "x86-64-v4") {
    features = *cpuLevelFeatures(name);
    target.llvmCpu = name;
    target.llvmTune = name == "x86-64-v3" ? "generic" : "x86-64-v4";
  } else if (name == "native") {
    features = hostCpuFeatures();
    if ((features & v3) != v3)
      return Error(ErrorCode::Unsupported,
                   "this processor has less than x86-64-v3 needs; give the level to compile for");
    target.llvmCpu = (features & v4) == v4 ? "x86-64-v4" : "x86-64-v3";
    target.llvmTune = llvm::sys::getHostCPUName().str();
  } else if (name == "armv8-a") {
    // All that kernels need is in every such processor.
    return CpuTarget{.level = name,
                     .triple = kArm,
                     .required = {"aarch64"},
                     .llvmCpu = "generic",
                     .llvmTune = "generic",
                     .llvmFeatures = "+neon",
                     .floatLanes = 4};
  } else {
    return Error(
        ErrorCode::InvalidArgument,
        fmt::format("unknown CPU level '{}': expected native, x86-64-v3, x86-64-v4 or armv8-a", name));
  }
  target.required = namesOf(features);
  for (const std::string& feature : target.required)
    target.llvmFeatures += (target.llvmFeatures.empty() ? "+" : ",+") + feature;
  target.floatLanes = (features & v4) == v4 ? 16 : 8;
  return target;
}

Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(const CpuTarget& target,
                                                               int optimisationLevel) {
  registerTargets();
  std::string problem;
  const llvm::Target* const llvmTarget = llvm::TargetRegistry::lookupTarget(target.triple, problem);
  if (llvmTarget == nullptr)
    return Error(ErrorCode::Internal, fmt::format("LLVM has no target {}: {}", target.triple, problem));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.ExceptionModel = llvm::ExceptionHandling::None;
  const auto level = optimisationLevel <= 0   ? llvm::CodeGenOptLevel::None
                     : optimisationLevel == 1 ? llvm::CodeGenOptLevel::Less
                     : optimisationLevel == 2 ? llvm::CodeGenOptLevel::Default
                                              : llvm::CodeGenOptLevel::Aggressive;
  std::unique_ptr<llvm::TargetMachine> machine(
      llvmTarget->createTargetMachine(target.triple, target.llvmCpu, target.llvmFeatures, options,
                                      llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
  if (machine == nullptr) return Error(ErrorCode::Internal, "LLVM gives no target machine");
  return machine;
}

}  // namespace baton::codegen

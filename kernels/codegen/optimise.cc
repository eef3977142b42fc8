#include "kernels/codegen/optimise.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

namespace baton::codegen {

void optimise(llvm::Module& module, llvm::TargetMachine& machine, int level) {
  llvm::PipelineTuningOptions tuning;
  // Lanes are explicit where they matter; the vectoriser only sees what they leave.
  tuning.LoopVectorization = level >= 2;
  tuning.SLPVectorization = false;
  llvm::PassBuilder passes(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  // Nothing outside the image may be called, so no library function is known.
  llvm::TargetLibraryInfoImpl library(llvm::Triple(module.getTargetTriple()));
  library.disableAllFunctions();
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(calls);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, calls, modules);
  const llvm::OptimizationLevel optimisation = level <= 0   ? llvm::OptimizationLevel::O0
                                               : level == 1 ? llvm::OptimizationLevel::O1
                                               : level == 2 ? llvm::OptimizationLevel::O2
                                                            : llvm::OptimizationLevel::O3;
  llvm::ModulePassManager pipeline = level <= 0 ? passes.buildO0DefaultPipeline(optimisation)
                                                : passes.buildPerModuleDefaultPipeline(optimisation);
  pipeline.run(module, modules);
}

Result<llvm::SmallVector<char, 0>> emitMachineCode(llvm::Module& module, llvm::TargetMachine& machine,
                                                   bool asAssembly) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  const auto kind = asAssembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind))
    return Error(ErrorCode::Internal, "LLVM cannot emit machine code for this target");
  passes.run(module);
  return bytes;
}

}  // namespace baton::codegen

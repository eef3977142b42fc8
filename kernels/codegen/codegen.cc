#include "kernels/codegen/codegen.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "kernels/codegen/cpu_target.h"
#include "kernels/codegen/kernel_module.h"
#include "kernels/codegen/link.h"
#include "kernels/codegen/optimise.h"

namespace baton::codegen {

namespace {

/// A module with all that it depends on.
struct Compilation {
  CpuTarget target;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

Result<Compilation> optimisedModule(std::span<const loop::Kernel> kernels, const CodegenOptions& options) {
  Compilation c;
  BATON_TRY_ASSIGN(c.target, cpuTarget(options.cpu));
  BATON_TRY_ASSIGN(c.machine, makeTargetMachine(c.target, options.optimisationLevel));
  c.context = std::make_unique<llvm::LLVMContext>();
  BATON_TRY_ASSIGN(c.module, makeModule(*c.context, *c.machine, kernels, c.target));
  optimise(*c.module, *c.machine, options.optimisationLevel);
  return c;
}

}  // namespace

Result<NativeImage> compileKernels(std::span<const loop::Kernel> kernels, const CodegenOptions& options) {
  BATON_TRY_ASSIGN(const Compilation c, optimisedModule(kernels, options));
  BATON_TRY_ASSIGN(const auto object, emitMachineCode(*c.module, *c.machine, false));
  std::vector<std::string> symbols;
  for (size_t i = 0; i < kernels.size(); ++i) symbols.push_back(entryName(i));
  BATON_TRY_ASSIGN(LinkedImage linked, linkImage({object.data(), object.size()}, symbols));
  return NativeImage{std::move(linked.bytes), std::move(linked.symbolOffsets), c.target.level,
                     c.target.required};
}

Result<std::string> printLlvm(std::span<const loop::Kernel> kernels, const CodegenOptions& options) {
  BATON_TRY_ASSIGN(const Compilation c, optimisedModule(kernels, options));
  std::string text;
  llvm::raw_string_ostream stream(text);
  c.module->print(stream, nullptr);
  return text;
}

Result<std::string> printAssembly(std::span<const loop::Kernel> kernels, const CodegenOptions& options) {
  BATON_TRY_ASSIGN(const Compilation c, optimisedModule(kernels, options));
  BATON_TRY_ASSIGN(const auto text, emitMachineCode(*c.module, *c.machine, true));
  return std::string(text.begin(), text.end());
}

Result<bool> hasNarrowVectors(const std::string& cpu) {
  BATON_TRY_ASSIGN(const CpuTarget target, cpuTarget(cpu));
  return target.floatLanes < 16;
}

}  // namespace baton::codegen

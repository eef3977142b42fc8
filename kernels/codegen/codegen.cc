#include "kernels/codegen/codegen.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

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

/// Of kernels [part.first, part.first + part.kernels.size()) of an image.
Result<Compilation> optimisedModule(const ModulePart& part, const CodegenOptions& options) {
  Compilation c;
  BATON_TRY_ASSIGN(c.target, cpuTarget(options.cpu));
  BATON_TRY_ASSIGN(c.machine, makeTargetMachine(c.target, options.optimisationLevel));
  c.context = std::make_unique<llvm::LLVMContext>();
  BATON_TRY_ASSIGN(c.module, makeModule(*c.context, *c.machine, part, c.target));
  optimise(*c.module, *c.machine, options.optimisationLevel);
  return c;
}

using Object = llvm::SmallVector<char, 0>;

/// Kernels of a module. Modules are compiled side by side, and an image must not depend on how many
/// threads there are for that.
constexpr size_t kKernelsOfModule = 8;

Result<Object> compileModule(std::span<const loop::Kernel> kernels, size_t module,
                             const CodegenOptions& options) {
  const size_t first = module * kKernelsOfModule;
  const size_t count = std::min(kKernelsOfModule, kernels.size() - first);
  BATON_TRY_ASSIGN(const Compilation c,
                   optimisedModule({kernels.subspan(first, count), first, module == 0}, options));
  return emitMachineCode(*c.module, *c.machine, false);
}

/// work(0) to work(count - 1), on as many threads as the machine has.
void onAllThreads(size_t count, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  const size_t wanted = std::min<size_t>(count, std::thread::hardware_concurrency());
  try {
    while (threads.size() + 1 < wanted) threads.emplace_back(run);
  } catch (const std::system_error&) {
    // Then with those that there are.
  }
  run();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

Result<NativeImage> compileKernels(std::span<const loop::Kernel> kernels, const CodegenOptions& options) {
  BATON_TRY_ASSIGN(const CpuTarget target, cpuTarget(options.cpu));
  // One module at least: an image without kernels is one, too.
  const size_t modules = std::max<size_t>((kernels.size() + kKernelsOfModule - 1) / kKernelsOfModule, 1);
  std::vector<std::optional<Result<Object>>> compiled(modules);
  onAllThreads(modules, [&](size_t i) { compiled[i].emplace(compileModule(kernels, i, options)); });
  std::vector<Object> objects;
  for (std::optional<Result<Object>>& each : compiled) {
    BATON_TRY_ASSIGN(objects.emplace_back(), std::move(*each));
  }
  std::vector<std::string> symbols;
  for (size_t i = 0; i < kernels.size(); ++i) symbols.push_back(entryName(i));
  std::vector<std::span<const char>> contents;
  for (const Object& object : objects) contents.emplace_back(object.data(), object.size());
  BATON_TRY_ASSIGN(LinkedImage linked, linkImage(contents, symbols));
  return NativeImage{std::move(linked.bytes), std::move(linked.symbolOffsets), target.level, target.required};
}

Result<std::string> printLlvm(std::span<const loop::Kernel> kernels, const CodegenOptions& options) {
  BATON_TRY_ASSIGN(const Compilation c, optimisedModule({kernels}, options));
  std::string text;
  llvm::raw_string_ostream stream(text);
  c.module->print(stream, nullptr);
  return text;
}

Result<std::string> printAssembly(std::span<const loop::Kernel> kernels, const CodegenOptions& options) {
  BATON_TRY_ASSIGN(const Compilation c, optimisedModule({kernels}, options));
  BATON_TRY_ASSIGN(const auto text, emitMachineCode(*c.module, *c.machine, true));
  return std::string(text.begin(), text.end());
}

Result<bool> hasNarrowVectors(const std::string& cpu) {
  BATON_TRY_ASSIGN(const CpuTarget target, cpuTarget(cpu));
  return target.floatLanes < 16;
}

}  // namespace baton::codegen

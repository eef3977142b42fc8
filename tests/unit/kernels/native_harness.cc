// As native code, at every level that this machine can run.
#include <fmt/format.h>

#include "compiled_harness.h"
#include "kernels/abi/cpu_features.h"
#include "kernels/abi/image.h"
#include "kernels/codegen/codegen.h"
#include "kernels/loop/printer.h"

namespace baton::testing {

namespace {

std::vector<std::string> runnableLevels() {
  std::vector<std::string> levels;
  for (const char* level : {"x86-64-v3", "x86-64-v4"}) {
    const CpuFeatureSet needed = *cpuLevelFeatures(level);
    if ((hostCpuFeatures() & needed) == needed) levels.emplace_back(level);
  }
  if (!levels.empty()) levels.emplace_back("native");
  return levels;
}

}  // namespace

std::string forEachCompiled(const loop::Kernel& kernel, const CompiledVisitor& visit) {
  for (const std::string& level : runnableLevels()) {
    for (const int optimisation : {3, 0}) {
      if (optimisation == 0 && level == "native") continue;
      const Result<codegen::NativeImage> image =
          codegen::compileKernels({&kernel, 1}, {.cpu = level, .optimisationLevel = optimisation});
      if (!image.has_value()) return image.assume_error().message() + "\n" + loop::print(kernel);
      const Result<NativeCode> code = NativeCode::copy(image.assume_value().bytes);
      if (!code.has_value()) return code.assume_error().message();
      const Result<BatonKernelFunction> entry = code.assume_value().entry(image.assume_value().entries[0]);
      if (!entry.has_value()) return entry.assume_error().message();
      std::string found = visit(fmt::format("{} -O{}", level, optimisation), entry.assume_value());
      if (!found.empty()) return found;
    }
  }
  return {};
}

}  // namespace baton::testing

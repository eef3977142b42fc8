#include "vm/kernel_binding.h"

#include <algorithm>

#include <fmt/format.h>

#include "bytecode/container/file_map.h"
#include "kernels/abi/cpu_features.h"
#include "kernels/library/library.h"
#include "kernels/loop/parser.h"
#include "kernels/loop/verifier.h"
#include "vm/executable.h"

namespace baton::vm {

namespace {

/// Images of more features come first: what needs more can do more.
size_t rankOf(const bytecode::NativeImage& image) { return image.requiredFeatures.size(); }

bool isSameOperand(const KernelOperand& a, const KernelOperand& b) {
  return a.dtype == b.dtype && a.extents == b.extents;
}

/// Whether code for one may be called with operands that were checked against the other.
bool isSameInterface(const KernelDescriptor& a, const KernelDescriptor& b) {
  const auto isSameSymbol = [](const KernelSymbol& x, const KernelSymbol& y) {
    return x.from == y.from && x.index == y.index &&
           (x.from == KernelSymbol::From::Scalar || x.axis == y.axis);
  };
  return std::ranges::equal(a.symbols, b.symbols, isSameSymbol) &&
         std::ranges::equal(a.inputs, b.inputs, isSameOperand) &&
         std::ranges::equal(a.outputs, b.outputs, isSameOperand) && a.scalarInputs == b.scalarInputs &&
         a.scalarOutputs == b.scalarOutputs;
}

Result<std::unique_ptr<loop::InterpretedKernel>> interpret(const std::string& text,
                                                           const KernelDescriptor& declared) {
  BATON_TRY_ASSIGN(const loop::Kernel kernel, loop::parseKernel(text));
  BATON_TRY(loop::verify(kernel));
  if (!isSameInterface(kernel.descriptor, declared))
    return Error(ErrorCode::Malformed, "its loop IR has other operands than its descriptor");
  BATON_TRY_ASSIGN(loop::InterpretedKernel compiled, loop::InterpretedKernel::compile(kernel));
  return std::make_unique<loop::InterpretedKernel>(std::move(compiled));
}

/// The library's own descriptor counts; what a file says of it has to be the same: code and verifier rely on
/// it.
Result<const library::LibraryKernel*> findInLibrary(const KernelDescriptor& declared) {
  const library::LibraryKernel* kernel = library::findKernel(declared.name);
  if (kernel == nullptr)
    return Error(ErrorCode::Unsupported,
                 fmt::format("kernel {} is not in the library of this runtime", declared.name));
  if (kernel->descriptor != declared)
    return Error(
        ErrorCode::Malformed,
        fmt::format("kernel {} is described otherwise in the library than in the file", declared.name));
  return kernel;
}

/// Kernels that are much slower than their author meant are not passed over in silence.
void warnOfInterpretation(Instance& instance, const Error& reason) {
  instance.log().write(
      LogLevel::Warning,
      fmt::format("native code cannot be used, kernels are interpreted: {}", reason.message()));
}

}  // namespace

Result<const bytecode::NativeImage*> KernelTable::chooseImage(const bytecode::Program& program,
                                                              Instance& instance,
                                                              const LoadOptions& options) {
  if (!options.useNativeCode || program.images.empty()) return nullptr;
  const CpuFeatureSet host = hostCpuFeatures();
  std::vector<const bytecode::NativeImage*> candidates;
  for (const bytecode::NativeImage& image : program.images)
    if (options.cpuLevel.empty() || image.level == options.cpuLevel) candidates.push_back(&image);
  if (candidates.empty()) {
    std::vector<std::string> levels;
    for (const bytecode::NativeImage& image : program.images) levels.push_back(image.level);
    return Error(ErrorCode::Incompatible, fmt::format("no native code for CPU level {}: the file has {}",
                                                      options.cpuLevel, fmt::join(levels, ", ")));
  }
  std::ranges::stable_sort(candidates, std::greater(), [](const auto* image) { return rankOf(*image); });
  std::optional<Error> refusal;
  for (const bytecode::NativeImage* image : candidates) {
    Result<void> suits = checkCpuFeatures(image->level, image->requiredFeatures, host);
    if (suits.has_value()) return image;
    refusal = std::move(suits).assume_error();  // of the least demanding one in the end
  }
  if (program.loops.empty() || !options.cpuLevel.empty()) return std::move(*refusal);
  warnOfInterpretation(instance, *refusal);
  return nullptr;
}

Result<void> KernelTable::mapImage(const bytecode::Program& program, const bytecode::NativeImage& image,
                                   Instance& instance) {
  const bytecode::FileMap* file = bytecode::findFileMap(program);
  if (file && image.fileOffset) {
    Result<NativeCode> mapped = NativeCode::map(file->descriptor(), *image.fileOffset, image.bytes.size());
    if (mapped.has_value()) {
      code_ = std::move(mapped).assume_value();
      return success();
    }
    if (instance.log().wants(LogLevel::Info))
      instance.log().write(LogLevel::Info, fmt::format("native code is copied instead of mapped: {}",
                                                       mapped.assume_error().message()));
  }
  BATON_TRY_ASSIGN(code_, NativeCode::copy(image.bytes));
  return success();
}

Result<std::unique_ptr<KernelTable>> KernelTable::bind(const bytecode::Program& program, Instance& instance,
                                                       const LoadOptions& options) {
  std::unique_ptr<KernelTable> table(new KernelTable);
  BATON_TRY_ASSIGN(const bytecode::NativeImage* image, table->chooseImage(program, instance, options));
  if (image) {
    Result<void> mapped = table->mapImage(program, *image, instance);
    if (!mapped.has_value()) {
      if (program.loops.empty()) return std::move(mapped).assume_error();
      warnOfInterpretation(instance, mapped.assume_error());
      image = nullptr;
    } else {
      table->cpuLevel_ = image->level;
    }
  }
  for (size_t index = 0; index < program.kernels.size(); ++index) {
    const KernelDescriptor& descriptor = program.kernels[index];
    KernelBinding binding;
    binding.descriptor = &descriptor;
    if (descriptor.source == KernelSource::External)
      return Error(
          ErrorCode::Unsupported,
          fmt::format("kernel {} is an external kernel, which this runtime cannot provide", descriptor.name));
    if (descriptor.source == KernelSource::Library) {
      BATON_TRY_ASSIGN(const library::LibraryKernel* kernel, findInLibrary(descriptor));
      binding.function = kernel->function;
      binding.descriptor = &kernel->descriptor;
    } else if (image && image->entryOffsets[index] != bytecode::NativeImage::kNoEntry) {
      BATON_TRY_ASSIGN(binding.function, table->code_->entry(image->entryOffsets[index]));
    } else if (index < program.loops.size() && !program.loops[index].empty()) {
      Result<std::unique_ptr<loop::InterpretedKernel>> compiled = interpret(program.loops[index], descriptor);
      if (!compiled.has_value())
        return std::move(compiled).assume_error().withContext(fmt::format("kernel {}", descriptor.name));
      table->interpreted_.push_back(std::move(compiled).assume_value());
      binding.interpreted = table->interpreted_.back().get();
    } else {
      return Error(ErrorCode::Unsupported,
                   fmt::format("kernel {} has no code that may run here: {}", descriptor.name,
                               options.useNativeCode
                                   ? "the file has neither an image nor loop IR for it"
                                   : "native code is switched off and the file has no loop IR for it: "
                                     "compile with --portable"));
    }
    binding.plan = KernelPlan(*binding.descriptor);
    table->bindings_.push_back(std::move(binding));
  }
  return table;
}

}  // namespace baton::vm

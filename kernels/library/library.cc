#include "kernels/library/library.h"

#include <algorithm>

#include "kernels/library/families.h"

namespace baton::library {

namespace {

std::vector<LibraryKernel> makeKernels() {
  std::vector<LibraryKernel> kernels;
  addDetectionKernels(kernels);
  addSortKernels(kernels);
  addSuppressionKernels(kernels);
  for (LibraryKernel& kernel : kernels) kernel.descriptor.source = KernelSource::Library;
  std::ranges::sort(kernels, {}, [](const LibraryKernel& kernel) { return kernel.descriptor.name; });
  return kernels;
}

}  // namespace

std::string kernelName(std::string_view algorithm, std::span<const DType> tensors) {
  std::string name(algorithm);
  for (const DType dtype : tensors) {
    name += '.';
    name += dtypeShortName(dtype);
  }
  return name;
}

std::span<const LibraryKernel> allKernels() {
  static const std::vector<LibraryKernel> kernels = makeKernels();
  return kernels;
}

const LibraryKernel* findKernel(std::string_view name) {
  const auto nameOf = [](const LibraryKernel& kernel) -> std::string_view { return kernel.descriptor.name; };
  const std::span<const LibraryKernel> kernels = allKernels();
  const auto at = std::ranges::lower_bound(kernels, name, {}, nameOf);
  return at != kernels.end() && nameOf(*at) == name ? &*at : nullptr;
}

}  // namespace baton::library

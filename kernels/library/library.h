// Kernels that the runtime has, by name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/kernel_abi.h"
#include "kernels/abi/descriptor.h"

namespace baton::library {

struct LibraryKernel {
  KernelDescriptor descriptor;  ///< with its name, and source Library
  BatonKernelFunction function;
};

/// "topk.f32.f32.i32" for the tensors of a kernel, inputs first.
std::string kernelName(std::string_view algorithm, std::span<const DType> tensors);

/// Null when there is none of that name. Immutable, shared by all threads.
const LibraryKernel* findKernel(std::string_view name);

/// Sorted by name.
std::span<const LibraryKernel> allKernels();

}  // namespace baton::library

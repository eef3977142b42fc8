#include "compiler/ops/lowering/library_call.h"

#include "kernels/library/library.h"

namespace baton::ops {

const KernelDescriptor* libraryKernel(const OpDef& op, std::span<const TensorStructure> operands,
                                      std::span<const TensorStructure> results) {
  std::vector<DType> tensors;
  for (const std::span<const TensorStructure> part : {operands, results})
    for (const TensorStructure& type : part)
      if (type.rank > 0) tensors.push_back(type.dtype);
  const library::LibraryKernel* kernel = library::findKernel(library::kernelName(op.library, tensors));
  return kernel == nullptr ? nullptr : &kernel->descriptor;
}

}  // namespace baton::ops

// Operators that are kernels of the runtime (Lowering = Library).
#pragma once

#include <span>

#include "compiler/ir/op.h"
#include "kernels/abi/descriptor.h"

namespace baton::ops {

/// The kernel for operands and results of these types, of which those of rank 0 are scalars; null
/// when the library has none. Its operands are those of the operator in order, without the scalars.
const KernelDescriptor* libraryKernel(const OpDef& op, std::span<const TensorStructure> operands,
                                      std::span<const TensorStructure> results);

}  // namespace baton::ops

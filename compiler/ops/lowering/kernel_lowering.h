// From a group of operators - a function with attribute Primitive=1 - to one loop-IR kernel.
#pragma once

#include <vector>

#include "base/dim.h"
#include "base/error.h"
#include "compiler/ir/ir.h"
#include "kernels/loop/kernel.h"

namespace baton::ops {

/// Most operators in one group.
inline constexpr size_t kMaxGroupSize = 256;

/// Operands, in order: parameters of rank >= 1 are the kernel's inputs, those of rank 0 its
/// scalar inputs; results of rank >= 1 are outputs, those of rank 0 scalar outputs. After
/// the scalar parameters comes one int64 scalar input for each of `scalarDims`: an
/// expression over the function's symbols that the caller computes.
struct LoweredKernel {
  loop::Kernel kernel;
  std::vector<DimExpr> scalarDims;
  bool dependsOnOptions = false;  ///< other options give another kernel
};

/// What shapes register tiles. Results, and the descriptor, do not depend on it.
struct LoweringOptions {
  int vectorBytes = 64;
  int vectorRegisters = 32;
};
/// For CPUs of which the vector registers are 16 of 32 bytes.
inline constexpr LoweringOptions kNarrowVectors = {32, 16};

/// The body must be one block of CallOp, Project, MakeTuple and AtomRhs bindings in a typed
/// module. Obligations of the bindings are the caller's to check; they are relied on here.
/// The kernel has passed loop::verify(). ErrorCode::Unsupported for a constant tensor of
/// several values (it has to be a parameter) and for a group of more than kMaxGroupSize.
Result<LoweredKernel> lowerGroup(ir::Module& module, const ir::Function& primitive,
                                 const LoweringOptions& options = {});

}  // namespace baton::ops

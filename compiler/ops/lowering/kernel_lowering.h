// From a group of operators - a function with attribute Primitive=1 - to one loop-IR kernel.
#pragma once

#include <optional>
#include <vector>

#include "base/dim.h"
#include "base/error.h"
#include "compiler/ir/ir.h"
#include "kernels/loop/kernel.h"
#include "kernels/schedule/schedule.h"

namespace baton::ops {

/// Most operators in one group.
inline constexpr size_t kMaxGroupSize = 256;

/// Operands, in order: parameters of rank >= 1 are the kernel's inputs, those of rank 0 its
/// scalar inputs; results of rank >= 1 are outputs, those of rank 0 scalar outputs. After
/// the scalar parameters comes one int64 scalar input for each of `scalarDims`: an
/// expression over the function's symbols that the caller computes.
struct LoweredKernel {
  loop::Kernel kernel;  ///< loops in the order of their text
  std::vector<DimExpr> scalarDims;
  schedule::Schedule schedule;  ///< how they are to run; it can be applied
  /// The same for CPUs of few and narrow vector registers, where it differs.
  std::optional<schedule::Schedule> narrowSchedule = std::nullopt;
};

/// The body must be one block of CallOp, Project, MakeTuple and AtomRhs bindings in a typed
/// module. Obligations of the bindings are the caller's to check; they are relied on here.
/// The kernel has passed loop::verify(). ErrorCode::Unsupported for a constant tensor of
/// several values (it has to be a parameter) and for a group of more than kMaxGroupSize.
Result<LoweredKernel> lowerGroup(ir::Module& module, const ir::Function& primitive);

}  // namespace baton::ops

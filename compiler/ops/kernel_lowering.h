// Placeholder until the room lands it.
#pragma once
#include <vector>
#include "base/error.h"
#include "compiler/ir/ir.h"
#include "kernels/loop/kernel.h"
namespace baton::ops {
struct LoweredKernel {
  loop::Kernel kernel;
  std::vector<DimExpr> scalarDims;
};
Result<LoweredKernel> lowerGroup(ir::Module& module, const ir::Function& primitive);
}  // namespace baton::ops

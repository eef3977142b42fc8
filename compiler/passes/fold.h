// Running an operator while compiling.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/passes/pass.h"

namespace baton::passes {

/// Scalars of a module by value, so that each is stored once.
class ConstantPool {
 public:
  explicit ConstantPool(ir::Module& module);
  ir::ConstantId add(ir::Constant constant);

 private:
  ir::Module& module_;
  std::map<std::pair<DType, uint64_t>, ir::ConstantId> scalars_;
};

/// The results of a call whose operands are constants or whose elements are known; nothing
/// when something is not known, when it would fail, or when the results are too large to
/// store. `binding.rhs` is a CallOp.
std::optional<std::vector<ir::Atom>> foldOperator(ir::Module& module, const ir::Function& function,
                                                  const ir::Binding& binding, ConstantPool& pool,
                                                  const PassLimits& limits);

}  // namespace baton::passes

// Running an operator while compiling.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

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
/// when something is not known, when it would fail, or when the results are larger than both
/// the operands and `maxBytes`. `binding.rhs` is a CallOp.
std::optional<std::vector<ir::Atom>> foldOperator(ir::Module& module, const ir::Function& function,
                                                  const ir::Binding& binding, ConstantPool& pool,
                                                  size_t maxBytes);

}  // namespace baton::passes

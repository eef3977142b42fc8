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

struct FoldLimits {
  size_t maxBytes;  ///< of results that are larger than the operands
  uint64_t work;    ///< left for all operators, as in ops/reference.h
};

/// The results of a call whose operands are constants or whose elements are known; nothing
/// when something is not known, when it would fail, or when a limit forbids it.
/// `binding.rhs` is a CallOp.
std::optional<std::vector<ir::Atom>> foldOperator(ir::Module& module, const ir::Function& function,
                                                  const ir::Binding& binding, ConstantPool& pool,
                                                  FoldLimits& limits);

}  // namespace baton::passes

// The local functions of a function: where each stands, who calls it, whether it is a value.
#pragma once

#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

struct LocalCall {
  ir::BlockId block;
  uint32_t index = 0;  ///< of the binding
};

struct LocalFunction {
  ir::VarId var;
  ir::BlockId block;
  uint32_t index = 0;  ///< of its binding
  ir::BlockId body;
  size_t arity = 0;
  bool escapes = false;          ///< is used as a value somewhere
  std::vector<LocalCall> calls;  ///< in program order
};

/// What the function's binding binds it to.
inline const ir::Lambda& lambdaOf(const ir::Function& function, const LocalFunction& local) {
  return std::get<ir::Lambda>(function.block(local.block).bindings[local.index].rhs);
}

/// Valid until bindings are moved. Joins are not among them.
class LocalFunctions {
 public:
  explicit LocalFunctions(const ir::Function& function);

  const std::vector<LocalFunction>& all() const { return all_; }  ///< in program order
  /// Null for a variable that is none of them.
  const LocalFunction* find(ir::VarId var) const;
  size_t indexOf(const LocalFunction& local) const { return static_cast<size_t>(&local - all_.data()); }
  /// Whether `block` is `root` or inside.
  bool isInside(ir::BlockId block, ir::BlockId root) const {
    return enter_[root.value()] <= enter_[block.value()] && enter_[block.value()] < leave_[root.value()];
  }

 private:
  std::vector<LocalFunction> all_;
  std::vector<uint32_t> byVar_;          // into all_, or UINT32_MAX
  std::vector<uint32_t> enter_, leave_;  // by block: its range in pre-order
};

}  // namespace baton::passes

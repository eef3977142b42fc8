#include "compiler/types/dim_scope.h"

#include "compiler/ir/walk.h"

namespace baton::types {

DimScope::DimScope(const ir::Function& function)
    : homes_(function.vars.size(), ir::kNoBlock),
      order_(function.vars.size(), 0),
      enter_(function.blocks.size(), 0),
      leave_(function.blocks.size(), 0),
      isUnconditional_(function.blocks.size(), false) {
  uint32_t clock = 1;
  auto bind = [&](ir::VarId var, ir::BlockId home) {
    homes_[var.value()] = home;
    order_[var.value()] = clock++;
  };
  for (ir::VarId param : function.params) bind(param, function.body);
  isUnconditional_[function.body.value()] = true;
  ir::WalkCallbacks callbacks;
  callbacks.enterBlock = [&](ir::BlockId block) { enter_[block.value()] = clock++; };
  callbacks.leaveBlock = [&](ir::BlockId block) { leave_[block.value()] = clock++; };
  callbacks.enterBinding = [&](ir::BlockId block, size_t index) {
    bind(function.block(block).bindings[index].var, block);
    return true;
  };
  callbacks.enterChild = [&](ir::BlockId block, size_t index, size_t child, ir::BlockId childBlock) {
    const ir::Rhs& rhs = function.block(block).bindings[index].rhs;
    if (const ir::Lambda* lambda = std::get_if<ir::Lambda>(&rhs))
      for (ir::VarId param : lambda->params) bind(param, childBlock);
    if (const ir::Match* match = std::get_if<ir::Match>(&rhs))
      ir::forEachPatternVar(function, match->clauses[child].pattern,
                            [&](ir::VarId var) { bind(var, childBlock); });
    if (std::holds_alternative<ir::NestedBlock>(rhs))
      isUnconditional_[childBlock.value()] = isUnconditional_[block.value()];
  };
  ir::walk(function, function.body, callbacks);
}

bool DimScope::isInScope(ir::VarId var, ir::VarId at) const {
  ir::BlockId home = homes_[var.value()];
  ir::BlockId place = homes_[at.value()];
  if (home == ir::kNoBlock || place == ir::kNoBlock) return false;
  bool encloses =
      enter_[home.value()] <= enter_[place.value()] && leave_[place.value()] <= leave_[home.value()];
  return encloses && order_[var.value()] < order_[at.value()];
}

}  // namespace baton::types

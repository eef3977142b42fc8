#include "compiler/passes/effects.h"

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"

namespace baton::passes {

using ir::BlockId;
using ir::GlobalId;

Effects::Effects(const ir::Module& module) : functionWrites_(module.functions.size(), false) {
  std::vector<std::vector<GlobalId>> callers(module.functions.size());
  std::vector<bool> callsValues(module.functions.size(), false);
  std::vector<GlobalId> work;
  auto mark = [&](GlobalId id) {
    if (functionWrites_[id.value()]) return;
    functionWrites_[id.value()] = true;
    work.push_back(id);
  };
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    for (BlockId id : ir::blocksInOrder(function, function.body))
      for (const ir::Binding& binding : function.block(id).bindings) {
        if (std::holds_alternative<ir::WriteRef>(binding.rhs)) {
          moduleWrites_ = true;
          mark(GlobalId(i));
        } else if (const auto* call = std::get_if<ir::CallGlobal>(&binding.rhs)) {
          callers[call->callee.value()].push_back(GlobalId(i));
        } else if (std::holds_alternative<ir::CallValue>(binding.rhs)) {
          callsValues[i] = true;
        }
      }
  }
  // A function that is a value may be any, so where something writes, it may.
  if (moduleWrites_)
    for (uint32_t i = 0; i < module.functions.size(); ++i)
      if (callsValues[i]) mark(GlobalId(i));
  while (!work.empty()) {
    const GlobalId id = work.back();
    work.pop_back();
    for (GlobalId caller : callers[id.value()]) mark(caller);
  }
}

bool Effects::writesItself(const ir::Rhs& rhs) const {
  if (std::holds_alternative<ir::WriteRef>(rhs) || std::holds_alternative<ir::CallValue>(rhs)) return true;
  const auto* call = std::get_if<ir::CallGlobal>(&rhs);
  return call != nullptr && functionWrites_[call->callee.value()];
}

std::vector<bool> Effects::blockWrites(const ir::Function& function) const {
  std::vector<bool> result(function.blocks.size(), false);
  if (!moduleWrites_) return result;
  // Parents come before their children in this order, so children are done first.
  const std::vector<BlockId> order = ir::blocksInOrder(function, function.body);
  for (size_t i = order.size(); i-- > 0;)
    for (const ir::Binding& binding : function.block(order[i]).bindings) {
      bool writes = writesItself(binding.rhs);
      const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda == nullptr || lambda->isJoin)
        ir::forEachChildBlock(binding.rhs, [&](BlockId child) { writes = writes || result[child.value()]; });
      if (writes) result[order[i].value()] = true;
    }
  return result;
}

bool Effects::writes(const ir::Rhs& rhs, const std::vector<bool>& blockWrites) const {
  if (!moduleWrites_) return false;
  bool writes = writesItself(rhs);
  const auto* lambda = std::get_if<ir::Lambda>(&rhs);
  if (lambda == nullptr || lambda->isJoin)
    ir::forEachChildBlock(rhs, [&](BlockId child) { writes = writes || blockWrites[child.value()]; });
  return writes;
}

bool canFail(const ir::Function& function, const ir::Binding& binding) {
  if (!binding.obligations.empty()) return true;
  if (const auto* array = std::get_if<ir::ArrayOp>(&binding.rhs)) return ir::infoOf(array->operation).canFail;
  const auto* call = std::get_if<ir::CallOp>(&binding.rhs);
  if (call == nullptr) return false;
  switch (call->op->failure) {
    case ops::FailureKind::Never: return false;
    case ops::FailureKind::IntegerDivision: {
      const ir::TypeRef type = function.var(binding.var).type;
      return !type->isTensor() || !isFloat(type->dtype());
    }
    case ops::FailureKind::IndexRange: {
      const auto mode = call->attrs.get<std::string>("mode");
      return !mode || (*mode != "clip" && *mode != "wrap");
    }
  }
  return true;
}

}  // namespace baton::passes

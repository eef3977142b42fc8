#include "compiler/passes/local_functions.h"

#include "compiler/ir/walk.h"

namespace baton::passes {

using ir::Atom;
using ir::BlockId;

LocalFunctions::LocalFunctions(const ir::Function& function)
    : byVar_(function.vars.size(), UINT32_MAX),
      enter_(function.blocks.size(), UINT32_MAX),
      leave_(function.blocks.size(), 0) {
  uint32_t clock = 0;
  auto localOf = [&](const Atom& atom) { return atom.isVar() ? byVar_[atom.var().value()] : UINT32_MAX; };
  auto escape = [&](const Atom& atom) {
    if (const uint32_t local = localOf(atom); local != UINT32_MAX) all_[local].escapes = true;
  };
  auto visit = [&](BlockId id, size_t index) {
    const ir::Binding& binding = function.block(id).bindings[index];
    if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
      if (lambda->isJoin) return true;
      byVar_[binding.var.value()] = static_cast<uint32_t>(all_.size());
      all_.push_back(
          {binding.var, id, static_cast<uint32_t>(index), lambda->body, lambda->params.size(), false, {}});
    } else if (const auto* call = std::get_if<ir::CallValue>(&binding.rhs)) {
      for (const Atom& arg : call->args) escape(arg);
      if (const uint32_t local = localOf(call->callee); local != UINT32_MAX) {
        all_[local].calls.push_back({id, static_cast<uint32_t>(index)});
        if (call->args.size() != all_[local].arity) all_[local].escapes = true;
      }
    } else {
      ir::forEachOperand(binding.rhs, escape);
    }
    return true;
  };
  ir::WalkCallbacks callbacks;
  callbacks.enterBlock = [&](BlockId id) { enter_[id.value()] = clock++; };
  callbacks.enterBinding = visit;
  callbacks.leaveBlock = [&](BlockId id) {
    escape(function.block(id).result);
    leave_[id.value()] = clock;
  };
  ir::walk(function, function.body, callbacks);
}

const LocalFunction* LocalFunctions::find(ir::VarId var) const {
  if (var.value() >= byVar_.size() || byVar_[var.value()] == UINT32_MAX) return nullptr;
  return &all_[byVar_[var.value()]];
}

}  // namespace baton::passes

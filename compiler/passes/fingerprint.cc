#include "compiler/passes/fingerprint.h"

#include <string_view>

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/ir_hash.h"

namespace baton::passes {
namespace {

void addVar(IrHash& hash, const ir::Function& function, ir::VarId var) {
  hash.add(uint64_t{var.value()});
  hash.add(function.var(var).type);
  if (function.var(var).valueDims)
    for (const DimExpr& element : *function.var(var).valueDims) hash.add(element);
}

void addBinding(IrHash& hash, const ir::Function& function, const ir::Binding& binding) {
  addVar(hash, function, binding.var);
  hash.add(uint64_t{binding.rhs.index()});
  ir::forEachOperand(binding.rhs, [&](const ir::Atom& atom) { hash.add(atom); });
  if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) {
    hash.add(call->op->name);
    hash.add(call->attrs);
  } else if (const auto* direct = std::get_if<ir::CallGlobal>(&binding.rhs)) {
    hash.add(uint64_t{direct->callee.value()});
  } else if (const auto* jump = std::get_if<ir::CallJoin>(&binding.rhs)) {
    hash.add(uint64_t{jump->join.value()});
  } else if (const auto* made = std::get_if<ir::Construct>(&binding.rhs)) {
    hash.add(uint64_t{made->constructor.definition.value()});
    hash.add(uint64_t{made->constructor.tag});
  } else if (const auto* array = std::get_if<ir::ArrayOp>(&binding.rhs)) {
    hash.add(static_cast<uint64_t>(array->operation));
    for (int64_t extent : array->rowExtents) hash.add(static_cast<uint64_t>(extent));
  } else if (const auto* field = std::get_if<ir::Project>(&binding.rhs)) {
    hash.add(uint64_t{field->index});
  } else if (const auto* match = std::get_if<ir::Match>(&binding.rhs)) {
    hash.add(uint64_t{match->complete});
    for (const ir::Clause& clause : match->clauses) {
      hash.add(uint64_t{clause.pattern.value()});
      ir::forEachPatternVar(function, clause.pattern, [&](ir::VarId var) { addVar(hash, function, var); });
    }
  } else if (const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) {
    hash.add(uint64_t{lambda->isJoin} * 2 + uint64_t{lambda->isLoop});
    for (ir::VarId param : lambda->params) addVar(hash, function, param);
    hash.add(lambda->attrs);
  }
  ir::forEachChildBlock(binding.rhs, [&](ir::BlockId child) { hash.add(uint64_t{child.value()}); });
  for (const ir::Obligation& obligation : binding.obligations) {
    hash.add(obligation.lhs);
    hash.add(static_cast<uint64_t>(obligation.relation));
    hash.add(obligation.rhs);
  }
}

}  // namespace

uint64_t fingerprint(const ir::Module& module) {
  IrHash hash;
  hash.add(uint64_t{module.functions.size()});
  hash.add(uint64_t{module.constants.size()});
  for (const ir::Function& function : module.functions) {
    hash.add(std::string_view(function.name));
    hash.add(function.attrs);
    hash.add(function.result);
    for (ir::VarId param : function.params) addVar(hash, function, param);
    for (ir::BlockId id : ir::blocksInOrder(function, function.body)) {
      const ir::Block& block = function.block(id);
      hash.add(uint64_t{id.value()});
      hash.add(uint64_t{block.bindings.size()});
      for (const ir::Binding& binding : block.bindings) addBinding(hash, function, binding);
      hash.add(block.result);
    }
  }
  return hash.value();
}

}  // namespace baton::passes

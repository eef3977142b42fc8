#include "compiler/eval/code.h"

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/attr_dims.h"
#include "compiler/ir/free_variables.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"

namespace baton::eval {

using ir::BlockId;
using ir::VarId;

FunctionCode::FunctionCode(const ir::Function& function)
    : function_(function),
      slot_(function.vars.size(), kNoSlot),
      unitOfVar_(function.vars.size(), kNoSlot),
      definer_(function.blocks.size(), ir::kNoBlock),
      isUnitTail_(function.blocks.size(), false),
      hasExtents_(function.vars.size(), false) {
  assignSlots();
  numberExtents();
  findBinders();
  findTails();
}

uint32_t FunctionCode::slotOf(const Unit& unit, VarId var) const {
  if (unitOfVar_[var.value()] == static_cast<uint32_t>(&unit - units_.data())) return slot_[var.value()];
  auto at = unit.captureSlots.find(var);
  return at == unit.captureSlots.end() ? kNoSlot : at->second;
}

void FunctionCode::assignSlots() {
  std::vector<uint32_t> unitOfBlock(function_.blocks.size(), 0);
  auto addUnit = [&](BlockId body, VarId self, const std::vector<VarId>& params) {
    const uint32_t index = static_cast<uint32_t>(units_.size());
    Unit unit;
    unit.body = body;
    unit.self = self;
    unit.params = params;
    units_.push_back(std::move(unit));
    unitIndex_.emplace(body, index);
    unitOfBlock[body.value()] = index;
    return index;
  };
  auto bind = [&](VarId var, uint32_t unit) {
    unitOfVar_[var.value()] = unit;
    slot_[var.value()] = units_[unit].slotCount++;
  };
  const uint32_t root = addUnit(function_.body, ir::kNoVar, function_.params);
  for (VarId param : function_.params) bind(param, root);
  const ir::FreeVariables free(function_);
  for (BlockId id : ir::blocksInOrder(function_, function_.body)) {
    const uint32_t unit = unitOfBlock[id.value()];
    for (const ir::Binding& binding : function_.block(id).bindings) {
      bind(binding.var, unit);
      const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda == nullptr) {
        ir::forEachChildBlock(binding.rhs, [&](BlockId child) { unitOfBlock[child.value()] = unit; });
        if (const auto* match = std::get_if<ir::Match>(&binding.rhs))
          for (const ir::Clause& clause : match->clauses)
            ir::forEachPatternVar(function_, clause.pattern, [&](VarId var) { bind(var, unit); });
        continue;
      }
      if (lambda->isJoin) {
        unitOfBlock[lambda->body.value()] = unit;
        definer_[lambda->body.value()] = id;
        joins_.emplace(binding.var, JoinCode{lambda->params, lambda->body, id});
        for (VarId param : lambda->params) bind(param, unit);
        continue;
      }
      const uint32_t inner = addUnit(lambda->body, binding.var, lambda->params);
      for (VarId param : lambda->params) bind(param, inner);
      Unit& local = units_[inner];
      local.captureSlots.emplace(binding.var, local.slotCount++);
      for (VarId var : free.of(*lambda)) {
        if (var == binding.var) continue;
        local.captures.push_back(var);
        local.captureSlots.emplace(var, local.slotCount++);
      }
    }
  }
}

uint32_t FunctionCode::extentSlot(DimSymbol symbol) const {
  auto at = extentSlots_.find(symbol);
  return at == extentSlots_.end() ? kNoSlot : at->second;
}

const std::vector<uint32_t>& FunctionCode::bindsOf(VarId var) const {
  auto at = binds_.find(var);
  return at == binds_.end() ? nothing_ : at->second;
}

void FunctionCode::numberExtents() {
  std::vector<DimSymbol> found;
  auto addExpr = [&](const DimExpr& expr) {
    found.clear();
    expr.collectSymbols(found);
    for (DimSymbol symbol : found)
      if (symbol != ir::kAnyDim && extentSlots_.try_emplace(symbol, extentCount_).second) ++extentCount_;
  };
  for (uint32_t i = 0; i < function_.vars.size(); ++i) {
    const ir::VarInfo& info = function_.vars[i];
    if (unitOfVar_[i] == kNoSlot) continue;
    bool says = info.valueDims.has_value();
    ir::forEachOwnTensor(info.type, [&](ir::TypeRef type) {
      says = true;
      for (const DimExpr& dim : type->dims()) addExpr(dim);
    });
    if (info.valueDims)
      for (const DimExpr& element : *info.valueDims) addExpr(element);
    hasExtents_[i] = says;
  }
  for (const DimConstraint& constraint : function_.where) {
    addExpr(constraint.lhs);
    addExpr(constraint.rhs);
  }
  for (const ir::Block& block : function_.blocks)
    for (const ir::Binding& binding : block.bindings) {
      for (const ir::Obligation& obligation : binding.obligations) {
        addExpr(obligation.lhs);
        addExpr(obligation.rhs);
        for (const DimExpr& shown : obligation.shown) addExpr(shown);
      }
      if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) ir::forEachDim(call->attrs, addExpr);
    }
}

void FunctionCode::findBinders() {
  const SymbolBinders binders(function_, true);
  for (uint32_t i = 0; i < function_.vars.size(); ++i)
    for (DimSymbol symbol : binders.boundBy(VarId(i))) binds_[VarId(i)].push_back(extentSlots_.at(symbol));
  for (Unit& unit : units_)
    for (DimSymbol symbol : binders.inScopeOf(unit.body)) unit.extentSlots.push_back(extentSlots_.at(symbol));
}

void FunctionCode::findTails() {
  for (const Unit& unit : units_) isUnitTail_[unit.body.value()] = true;
  for (BlockId id : ir::blocksInOrder(function_, function_.body)) {
    const ir::Block& block = function_.block(id);
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const ir::Binding& binding = block.bindings[i];
      const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
      if (lambda != nullptr) {
        if (lambda->isJoin) isUnitTail_[lambda->body.value()] = isUnitTail_[id.value()];
        continue;
      }
      const bool isTail = i + 1 == block.bindings.size() && block.result == ir::Atom(binding.var);
      ir::forEachChildBlock(binding.rhs, [&](BlockId child) {
        isUnitTail_[child.value()] = isTail && isUnitTail_[id.value()];
      });
    }
  }
}

}  // namespace baton::eval

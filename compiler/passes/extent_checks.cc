#include "compiler/passes/extent_checks.h"

#include <algorithm>

#include "compiler/ir/op.h"
#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"

namespace baton::passes {

ExtentChecks::ExtentChecks(const ir::Function& function) {
  std::vector<DimSymbol> symbols;
  auto add = [&](const DimExpr& lhs, const DimExpr& rhs) {
    symbols.clear();
    lhs.collectSymbols(symbols);
    rhs.collectSymbols(symbols);
    tie(symbols);
  };
  for (const DimConstraint& constraint : function.where) add(constraint.lhs, constraint.rhs);
  for (ir::BlockId id : ir::blocksInOrder(function, function.body))
    for (const ir::Binding& binding : function.block(id).bindings)
      for (const ir::Obligation& obligation : binding.obligations) add(obligation.lhs, obligation.rhs);
}

DimSymbol ExtentChecks::rootOf(DimSymbol symbol) const {
  auto at = towardsRoot_.find(symbol);
  while (at != towardsRoot_.end()) {
    symbol = at->second;
    auto next = towardsRoot_.find(symbol);
    // Half the way, so that long ones are gone once.
    if (next != towardsRoot_.end()) at->second = next->second;
    at = next;
  }
  return symbol;
}

void ExtentChecks::tie(const std::vector<DimSymbol>& symbols) {
  for (const DimSymbol symbol : symbols) {
    const DimSymbol root = rootOf(symbols.front());
    const DimSymbol other = rootOf(symbol);
    if (other != root) towardsRoot_.emplace(other, root);
  }
}

void ExtentChecks::add(const ir::Binding& binding, Checked& checked) const {
  std::vector<DimSymbol> symbols;
  for (const ir::Obligation& obligation : binding.obligations) {
    // What is about numbers and was not dropped fails: nothing after it runs.
    if (obligation.lhs.isConstant() && obligation.rhs.isConstant()) checked.insert(ir::kAnyDim);
    obligation.lhs.collectSymbols(symbols);
    obligation.rhs.collectSymbols(symbols);
  }
  for (const DimSymbol symbol : symbols) checked.insert(rootOf(symbol));
}

bool ExtentChecks::mayRelyOn(const Checked& checked, ir::Module& module, const ir::Function& function,
                             const ir::Binding& binding) const {
  if (checked.empty()) return false;
  if (checked.contains(ir::kAnyDim)) return true;
  bool isFound = false;
  auto look = [&](ir::TypeRef type) {
    ir::forEachSymbol(type, [&](DimSymbol symbol) { isFound = isFound || checked.contains(rootOf(symbol)); });
  };
  const ir::TypeRef type = function.var(binding.var).type;
  if (const auto* alias = std::get_if<ir::AtomRhs>(&binding.rhs)) {
    const ir::TypeRef own = module.typeOf(function, alias->atom);
    if (own == type) return false;
    look(own);
  } else if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) {
    // The extents of the one operand are those of the result.
    if (call->op->fusion == ops::FusionKind::Elementwise && call->args.size() == 1) return false;
    for (const ir::Atom& arg : call->args) look(module.typeOf(function, arg));
  } else {
    return false;
  }
  look(type);
  return isFound;
}

}  // namespace baton::passes

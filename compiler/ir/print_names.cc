#include "compiler/ir/print_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/type_walk.h"
#include "compiler/ir/walk.h"

namespace baton::ir {

void PrintNames::nameVariables(const Function& function) {
  vars_.assign(function.vars.size(), {});
  numbered_.assign(function.vars.size(), false);
  varNames_ = {};
  size_t nextNumber = 0;
  auto name = [&](VarId var, bool mayBeNumbered, const char* fallback) {
    std::string hint = function.var(var).name;
    if (hint.empty() && mayBeNumbered) {
      vars_[var.value()] = fmt::format("{}", nextNumber++);
      numbered_[var.value()] = true;
      return;
    }
    if (hint.empty()) hint = fallback;
    vars_[var.value()] = varNames_.fresh(hint);
  };
  for (VarId param : function.params) name(param, false, "p");
  if (function.body == kNoBlock) return;
  WalkCallbacks callbacks;
  callbacks.enterBinding = [&](BlockId block, size_t index) {
    const Binding& binding = function.block(block).bindings[index];
    const Lambda* lambda = std::get_if<Lambda>(&binding.rhs);
    name(binding.var, lambda == nullptr, "f");
    if (lambda != nullptr)
      for (VarId param : lambda->params) name(param, false, "p");
    if (const Match* match = std::get_if<Match>(&binding.rhs))
      for (const Clause& clause : match->clauses)
        forEachPatternVar(function, clause.pattern, [&](VarId var) { name(var, false, "p"); });
    return true;
  };
  walk(function, function.body, callbacks);
}

void PrintNames::giveName(VarId var) {
  vars_[var.value()] = varNames_.fresh("v");
  numbered_[var.value()] = false;
}

std::string PrintNames::of(DimSymbol symbol) {
  if (symbol == kAnyDim) return "?";
  auto [known, isNew] = symbols_.try_emplace(symbol);
  if (isNew) known->second = dimNames_.fresh(module_->dimSymbols.name(symbol));
  return known->second;
}

void PrintNames::leaveScope() {
  for (; bound_.size() > scopes_.back(); bound_.pop_back()) --boundCount_[bound_.back()];
  scopes_.pop_back();
}

void PrintNames::bindDims(TypeRef type) {
  forEachBoundSymbol(type, [&](DimSymbol symbol) {
    bound_.push_back(symbol);
    ++boundCount_[symbol];
  });
}

bool PrintNames::isBound(DimSymbol symbol) const {
  const auto count = boundCount_.find(symbol);
  return count != boundCount_.end() && count->second > 0;
}

bool PrintNames::isBound(const DimExpr& dim) const {
  std::vector<DimSymbol> symbols;
  dim.collectSymbols(symbols);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](DimSymbol symbol) { return symbol == kAnyDim || isBound(symbol); });
}

}  // namespace baton::ir

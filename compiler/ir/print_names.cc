#include "compiler/ir/print_names.h"

#include <fmt/format.h>

#include "compiler/ir/walk.h"

namespace baton::ir {
namespace {

std::string unusedName(const std::string& hint, const std::unordered_set<std::string>& taken) {
  if (!taken.contains(hint)) return hint;
  for (size_t i = 1;; ++i) {
    std::string candidate = fmt::format("{}_{}", hint, i);
    if (!taken.contains(candidate)) return candidate;
  }
}

}  // namespace

void PrintNames::nameVariables(const Function& function) {
  vars_.assign(function.vars.size(), {});
  numbered_.assign(function.vars.size(), false);
  std::unordered_map<std::string, size_t> copies;  // of a hint, so that thousands of one name stay cheap
  std::unordered_set<std::string> taken;
  size_t nextNumber = 0;
  auto name = [&](VarId var, bool mayBeNumbered, const char* fallback) {
    std::string hint = function.var(var).name;
    if (hint.empty() && mayBeNumbered) {
      vars_[var.value()] = fmt::format("{}", nextNumber++);
      numbered_[var.value()] = true;
      return;
    }
    if (hint.empty()) hint = fallback;
    std::string candidate = hint;
    for (size_t& copy = copies[hint]; taken.contains(candidate); candidate = fmt::format("{}_{}", hint, copy))
      ++copy;
    taken.insert(candidate);
    vars_[var.value()] = std::move(candidate);
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

std::string PrintNames::of(DimSymbol symbol) {
  if (symbol == kAnyDim) return "?";
  auto known = symbols_.find(symbol);
  if (known != symbols_.end()) return known->second;
  std::string name = unusedName(module_->dimSymbols.name(symbol), takenSymbols_);
  takenSymbols_.insert(name);
  symbols_.emplace(symbol, name);
  return name;
}

}  // namespace baton::ir

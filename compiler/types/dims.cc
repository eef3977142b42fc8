#include "compiler/types/dims.h"

#include <algorithm>

namespace baton::types {

ModuleDims::ModuleDims(ir::Module& module, frontend::Diagnostics& diagnostics)
    : module_(module), diagnostics_(diagnostics), cells_(module.types) {
  callers_.resize(module.functions.size());
  escaped_.resize(module.functions.size(), nullptr);
  isQueued_.resize(module.functions.size(), false);
  isOpen_.resize(module.functions.size(), false);
  for (uint32_t i = 0; i < module.functions.size(); ++i)
    functions_.push_back(std::make_unique<FunctionDims>(*this, ir::GlobalId(i)));
}

void ModuleDims::enqueue(ir::GlobalId id) {
  if (isQueued_[id.value()]) return;
  isQueued_[id.value()] = true;
  queue_.push_back(id);
}

void ModuleDims::addCaller(ir::GlobalId callee, ir::GlobalId caller) {
  std::vector<ir::GlobalId>& callers = callers_[callee.value()];
  auto at = std::lower_bound(callers.begin(), callers.end(), caller);
  if (at == callers.end() || *at != caller) callers.insert(at, caller);
}

void ModuleDims::resultChanged(ir::GlobalId id) {
  for (ir::GlobalId caller : callers_[id.value()]) enqueue(caller);
  ir::TypeRef type = escaped_[id.value()];
  const Fact& result = of(id).callable().resultFact;
  if (type != nullptr && result.isReached() && cells_.arrive(type, type->elements().size(), result.type))
    cellsChanged();
}

void ModuleDims::cellsChanged() {
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    if (escaped_[i] != nullptr) functions_[i]->callThroughValue(escaped_[i]);
    if (functions_[i]->isReached()) enqueue(ir::GlobalId(i));
  }
}

void ModuleDims::escapes(ir::GlobalId id, ir::TypeRef type) {
  if (escaped_[id.value()] != nullptr) return;
  escaped_[id.value()] = type;
  const ir::Function& function = module_.function(id);
  bool changed = false;
  for (size_t i = 0; i < function.params.size(); ++i)
    if (ir::TypeRef declared = function.var(function.params[i]).declaredType)
      changed |= cells_.pin(type, i, declared);
  of(id).callThroughValue(type);
  resultChanged(id);
  if (changed) cellsChanged();
}

void ModuleDims::stabilise() {
  std::vector<ir::GlobalId> open;  // each but the last waits for the next one
  auto begin = [&](ir::GlobalId id) {
    isQueued_[id.value()] = false;
    isOpen_[id.value()] = true;
    open.push_back(id);
  };
  while (!queue_.empty()) {
    ir::GlobalId id = queue_.front();
    queue_.pop_front();
    if (!isQueued_[id.value()]) continue;  // it was looked at when it was called
    begin(id);
    while (!open.empty()) {
      if (std::optional<ir::GlobalId> callee = of(open.back()).run()) {
        begin(*callee);
        continue;
      }
      isOpen_[open.back().value()] = false;
      open.pop_back();
    }
  }
}

// Functions that every run of the program calls (if nothing fails before).
std::vector<bool> ModuleDims::certainFunctions() const {
  std::vector<bool> isCertain(functions_.size(), false);
  std::vector<uint32_t> stack;
  for (uint32_t i = 0; i < functions_.size(); ++i) {
    if (!module_.functions[i].isExported) continue;
    isCertain[i] = true;
    stack.push_back(i);
  }
  while (!stack.empty()) {
    const ir::Function& function = module_.functions[stack.back()];
    stack.pop_back();
    for (const ir::Binding& binding : function.block(function.body).bindings) {
      const ir::CallGlobal* call = std::get_if<ir::CallGlobal>(&binding.rhs);
      if (call == nullptr || isCertain[call->callee.value()]) continue;
      isCertain[call->callee.value()] = true;
      stack.push_back(call->callee.value());
    }
  }
  return isCertain;
}

void ModuleDims::infer() {
  for (uint32_t i = 0; i < functions_.size(); ++i)
    if (module_.functions[i].isExported) functions_[i]->callFromOutside();
  stabilise();
  // Calls that never return, then what no run of the program reaches: both need types.
  for (bool progress = true; progress;) {
    progress = false;
    for (uint32_t i = 0; i < functions_.size() && !progress; ++i) progress = functions_[i]->forceReturn();
    stabilise();
  }
  for (const std::unique_ptr<FunctionDims>& function : functions_) function->startShadow();
  stabilise();
  std::vector<bool> isCertain = certainFunctions();
  for (uint32_t i = 0; i < functions_.size(); ++i) functions_[i]->finish(isCertain[i]);
}

}  // namespace baton::types

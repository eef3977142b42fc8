#include "compiler/passes/registry.h"

#include <unordered_map>
#include <utility>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/effects.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

/// Marks what is needed, from the result and the effects backwards; sweeps the rest.
class Sweeper {
 public:
  Sweeper(ir::Module& module, ir::Function& function, const Effects& effects)
      : module_(module), function_(function), effects_(effects) {}
  void run();

 private:
  struct Definition {
    BlockId block;
    uint32_t index = 0;
  };
  struct Param {
    VarId join;
    uint32_t index = 0;
  };

  void index();
  void need(VarId var);
  void need(const Atom& atom) {
    if (atom.isVar()) need(atom.var());
  }
  void needBlock(BlockId block);
  void mark(const ir::Binding& binding);
  void needBinders(const std::vector<DimSymbol>& symbols);
  void sweep();

  ir::Module& module_;
  ir::Function& function_;
  const Effects& effects_;
  std::vector<bool> blockWrites_;
  std::vector<bool> isNeeded_;                         // by variable
  std::vector<bool> isEntered_;                        // by block
  std::unordered_map<VarId, Definition> definitions_;  // bindings
  std::unordered_map<VarId, Param> joinParams_;
  std::unordered_map<DimSymbol, std::vector<VarId>> binders_;  // by symbol
  std::unordered_map<VarId, std::vector<Definition>> jumps_;   // by join, in blocks that are entered
  std::vector<VarId> work_;
  std::vector<BlockId> blocks_;
};

void Sweeper::index() {
  isNeeded_.assign(function_.vars.size(), false);
  isEntered_.assign(function_.blocks.size(), false);
  const eval::SymbolBinders binders(function_);
  for (uint32_t i = 0; i < function_.vars.size(); ++i)
    for (DimSymbol symbol : binders.boundBy(VarId(i))) binders_[symbol].push_back(VarId(i));
  for (BlockId id : ir::blocksInOrder(function_, function_.body)) {
    const std::vector<ir::Binding>& bindings = function_.block(id).bindings;
    for (uint32_t i = 0; i < bindings.size(); ++i) {
      definitions_[bindings[i].var] = {id, i};
      const auto* lambda = std::get_if<ir::Lambda>(&bindings[i].rhs);
      if (lambda == nullptr || !lambda->isJoin) continue;
      for (uint32_t k = 0; k < lambda->params.size(); ++k)
        joinParams_[lambda->params[k]] = {bindings[i].var, k};
    }
  }
}

/// Extents come from variables, too.
void Sweeper::needBinders(const std::vector<DimSymbol>& symbols) {
  for (DimSymbol symbol : symbols)
    if (auto at = binders_.find(symbol); at != binders_.end())
      for (VarId binder : at->second) need(binder);
}

void Sweeper::need(VarId var) {
  if (isNeeded_[var.value()]) return;
  isNeeded_[var.value()] = true;
  work_.push_back(var);
}

/// A block that runs gives its result, has its effects, and checks what it checks: what comes
/// after a check may rely on it, whether or not anything uses what the checked binding gives.
void Sweeper::needBlock(BlockId block) {
  if (isEntered_[block.value()]) return;
  isEntered_[block.value()] = true;
  blocks_.push_back(block);
}

void Sweeper::mark(const ir::Binding& binding) {
  needBinders(symbolsOf(function_, binding));
  if (const auto* jump = std::get_if<ir::CallJoin>(&binding.rhs)) {
    // Arguments are needed where the parameter is.
    need(jump->join);
    jumps_[jump->join].push_back(definitions_.at(binding.var));
    const auto& lambda = [&]() -> const ir::Lambda& {
      const Definition& at = definitions_.at(jump->join);
      return std::get<ir::Lambda>(function_.block(at.block).bindings[at.index].rhs);
    }();
    for (size_t i = 0; i < jump->args.size(); ++i)
      if (isNeeded_[lambda.params[i].value()]) need(jump->args[i]);
    return;
  }
  ir::forEachOperand(binding.rhs, [&](const Atom& atom) { need(atom); });
  ir::forEachChildBlock(binding.rhs, [&](BlockId child) { needBlock(child); });
}

void Sweeper::sweep() {
  for (BlockId id : ir::blocksInOrder(function_, function_.body)) {
    std::vector<ir::Binding> kept;
    for (ir::Binding& binding : function_.block(id).bindings)
      if (isNeeded_[binding.var.value()])
        kept.push_back(std::move(binding));
      else if (!binding.obligations.empty() && isEntered_[id.value()])
        kept.push_back(checkOf(module_, function_, binding));
    function_.block(id).bindings = std::move(kept);
  }
  auto keepNeeded = [&](auto& list, const std::vector<VarId>& params) {
    size_t kept = 0;
    for (size_t i = 0; i < params.size(); ++i)
      if (isNeeded_[params[i].value()]) list[kept++] = list[i];
    list.resize(kept);
  };
  std::unordered_map<VarId, std::vector<VarId>> params;
  for (BlockId id : ir::blocksInOrder(function_, function_.body))
    for (ir::Binding& binding : function_.block(id).bindings) {
      if (auto* lambda = std::get_if<ir::Lambda>(&binding.rhs); lambda != nullptr && lambda->isJoin)
        params.emplace(binding.var, lambda->params);
    }
  for (BlockId id : ir::blocksInOrder(function_, function_.body))
    for (ir::Binding& binding : function_.block(id).bindings) {
      if (auto* lambda = std::get_if<ir::Lambda>(&binding.rhs); lambda != nullptr && lambda->isJoin) {
        const size_t count = lambda->params.size();
        keepNeeded(lambda->params, params.at(binding.var));
        if (lambda->params.size() == count) continue;
        ir::TypeRef& type = function_.var(binding.var).type;
        type = functionType(module_, function_, lambda->params, type->result());
      } else if (auto* jump = std::get_if<ir::CallJoin>(&binding.rhs))
        keepNeeded(jump->args, params.at(jump->join));
    }
}

void Sweeper::run() {
  index();
  blockWrites_ = effects_.blockWrites(function_);
  needBlock(function_.body);
  while (!work_.empty() || !blocks_.empty()) {
    if (!blocks_.empty()) {
      const BlockId id = blocks_.back();
      blocks_.pop_back();
      const ir::Block& block = function_.block(id);
      need(block.result);
      for (const ir::Binding& binding : block.bindings) {
        needBinders(symbolsOf(binding.obligations));
        if (effects_.writes(binding.rhs, blockWrites_)) need(binding.var);
      }
      continue;
    }
    const VarId var = work_.back();
    work_.pop_back();
    if (auto at = definitions_.find(var); at != definitions_.end()) {
      mark(function_.block(at->second.block).bindings[at->second.index]);
    } else if (auto param = joinParams_.find(var); param != joinParams_.end()) {
      for (const Definition& jump : jumps_[param->second.join])
        need(std::get<ir::CallJoin>(function_.block(jump.block).bindings[jump.index].rhs)
                 .args[param->second.index]);
    }
  }
  sweep();
}

Result<void> dropDeadCode(ir::Module& module, PassContext&) {
  const Effects effects(module);
  for (ir::Function& function : module.functions) Sweeper(module, function, effects).run();
  return success();
}

}  // namespace

constinit const PassInfo kDeadCodePass{
    .name = "dead-code",
    .summary = "drop bindings whose value is not used",
    .documentation =
        R"(Marks from results and effects backwards and drops the rest. The variable that gives an extent its value is needed where the extent is. Parameters of joins that only feed themselves go with the arguments. Writes of cells stay, and so do the checks of what goes, since what comes after a check relies on it; an operation that can fail and is not used goes.)",
    .level = 1,
    .run = dropDeadCode,
};

}  // namespace baton::passes

#include "compiler/passes/registry.h"

#include <utility>

#include "base/error.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/dims.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/local_functions.h"
#include "compiler/passes/tail_blocks.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::BlockId;
using ir::VarId;

/// What becomes of a local function.
enum class Fate : uint8_t {
  Stays,
  Drops,
  Joins,      ///< where it stands
  MovesTail,  ///< before its only call, a tail
  MovesInto,  ///< with its only call into a nested block
};

class Contifier {
 public:
  Contifier(ir::Module& module, ir::Function& function)
      : module_(module),
        function_(function),
        locals_(function),
        fates_(locals_.all().size(), Fate::Stays),
        loops_(locals_.all().size(), false) {}
  void run();

 private:
  void decide(TailBlocks& tails, const LocalFunction& local);
  void rebuild();
  Fate fateOf(VarId var) const {
    const LocalFunction* local = locals_.find(var);
    return local == nullptr ? Fate::Stays : fates_[locals_.indexOf(*local)];
  }

  ir::Module& module_;
  ir::Function& function_;
  LocalFunctions locals_;
  std::vector<Fate> fates_;  // by local function
  std::vector<bool> loops_;
  std::unordered_map<VarId, VarId> arrives_;  // variable of a call: the local function that moves to it
};

/// A local function under a second name is no value.
void dropAliases(ir::Function& function) {
  Substitution substitution(function);
  std::vector<bool> isLambda(function.vars.size(), false);
  for (BlockId id : ir::blocksInOrder(function, function.body)) {
    for (const ir::Binding& binding : function.block(id).bindings) {
      if (std::holds_alternative<ir::Lambda>(binding.rhs)) isLambda[binding.var.value()] = true;
      const auto* alias = std::get_if<ir::AtomRhs>(&binding.rhs);
      if (alias == nullptr || !alias->atom.isVar() || !isLambda[alias->atom.var().value()]) continue;
      isLambda[binding.var.value()] = true;
      substitution.set(binding.var, alias->atom);
    }
  }
  if (substitution.empty()) return;
  for (BlockId id : ir::blocksInOrder(function, function.body))
    std::erase_if(function.block(id).bindings, [&](const ir::Binding& binding) {
      return std::holds_alternative<ir::AtomRhs>(binding.rhs) &&
             substitution.resolve(binding.var) != Atom(binding.var);
    });
  substitution.apply(function);
}

void Contifier::decide(TailBlocks& tails, const LocalFunction& local) {
  if (local.escapes) return;
  const size_t index = locals_.indexOf(local);
  std::vector<LocalCall> outside;
  bool hasInside = false;
  for (const LocalCall& call : local.calls) {
    if (!locals_.isInside(call.block, local.body)) {
      outside.push_back(call);
      continue;
    }
    // A call of itself that is no tail call needs a frame.
    if (!isTailBinding(function_.block(call.block), call.index) || !tails.isTailOf(call.block, local.body))
      return;
    hasInside = true;
  }
  loops_[index] = hasInside;
  if (outside.empty()) {
    fates_[index] = Fate::Drops;
    return;
  }
  bool allTails = true;
  for (const LocalCall& call : outside)
    allTails = allTails && isTailBinding(function_.block(call.block), call.index) &&
               tails.isTailOf(call.block, local.block);
  if (allTails) {
    fates_[index] = Fate::Joins;
    tails.addJoin(local.body, local.block);
    return;
  }
  if (outside.size() != 1) return;
  const LocalCall call = outside.front();
  arrives_.emplace(function_.block(call.block).bindings[call.index].var, local.var);
  if (isTailBinding(function_.block(call.block), call.index)) {
    fates_[index] = Fate::MovesTail;
    tails.addJoin(local.body, call.block);
  } else {
    fates_[index] = Fate::MovesInto;  // its block ends nowhere else
  }
}

void Contifier::rebuild() {
  std::unordered_map<VarId, ir::Binding> moved;
  const std::vector<BlockId> order = ir::blocksInOrder(function_, function_.body);
  for (BlockId id : order) {
    std::vector<ir::Binding>& bindings = function_.block(id).bindings;
    for (ir::Binding& binding : bindings) {
      if (const auto* call = std::get_if<ir::CallValue>(&binding.rhs);
          call != nullptr && call->callee.isVar() && fateOf(call->callee.var()) != Fate::Stays) {
        auto taken = std::get<ir::CallValue>(std::move(binding.rhs));
        binding.rhs = ir::CallJoin{taken.callee.var(), std::move(taken.args)};
      } else if (fateOf(binding.var) != Fate::Stays) {
        auto& lambda = std::get<ir::Lambda>(binding.rhs);
        lambda.isJoin = true;
        lambda.isLoop = loops_[locals_.indexOf(*locals_.find(binding.var))];
      }
    }
    std::erase_if(bindings, [&](ir::Binding& binding) {
      const Fate fate = fateOf(binding.var);
      if (fate == Fate::MovesTail || fate == Fate::MovesInto) moved.emplace(binding.var, std::move(binding));
      return fate != Fate::Stays && fate != Fate::Joins;
    });
  }
  for (BlockId id : order) {
    std::vector<ir::Binding> done;
    std::vector<ir::Binding> bindings = std::move(function_.block(id).bindings);
    for (ir::Binding& binding : bindings) {
      auto arrival = arrives_.find(binding.var);
      if (arrival == arrives_.end()) {
        done.push_back(std::move(binding));
        continue;
      }
      ir::Binding& lambda = moved.at(arrival->second);
      if (fateOf(arrival->second) == Fate::MovesTail) {
        done.push_back(std::move(lambda));
        done.push_back(std::move(binding));
        continue;
      }
      const BlockId nested = function_.addBlock();
      ir::VarInfo info = function_.var(binding.var);
      info.type = freshDims(module_, info.type);
      info.valueDims.reset();
      const VarId result = function_.addVar(std::move(info));
      const VarId outer = std::exchange(binding.var, result);
      const SourceLocation location = binding.location;
      ir::Block& inner = function_.block(nested);
      inner.bindings.push_back(std::move(lambda));
      inner.bindings.push_back(std::move(binding));
      inner.result = result;
      done.push_back({outer, ir::NestedBlock{nested}, location, {}});
    }
    function_.block(id).bindings = std::move(done);
  }
}

void Contifier::run() {
  if (locals_.all().empty()) return;
  TailBlocks tails(function_);
  // From the last to the first: what becomes of a function's callers is settled before it is.
  for (size_t i = locals_.all().size(); i-- > 0;) decide(tails, locals_.all()[i]);
  rebuild();
}

Result<void> contify(ir::Module& module, PassContext&) {
  for (ir::Function& function : module.functions) {
    dropAliases(function);
    straightenTails(function);
    Contifier(module, function).run();
  }
  return success();
}

}  // namespace

constinit const PassInfo kContifyPass{
    .name = "contify",
    .summary = "local functions that are only tail-called become joins",
    .documentation =
        R"(Makes a join of a local function that is only called, always in tail position; one with a single outside call moves there first, into a block of its own if the call is in mid-block. Functions are settled from the last to the first, so that calls inside of other joins count as tail calls. Self calls make it a loop. Local functions that nobody calls are dropped.

A function that is used as a value stays, and so does one that calls itself in another place than the tail.)",
    .run = contify,
};

}  // namespace baton::passes

// Loop-invariant motion: what gives the same in each round of a loop is computed before it.

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/passes/edit.h"
#include "compiler/passes/effects.h"
#include "compiler/passes/extent_checks.h"
#include "compiler/passes/loops.h"
#include "compiler/passes/registry.h"

namespace baton::passes {
namespace {

using ir::BlockId;
using ir::VarId;

class InvariantHoister {
 public:
  InvariantHoister(ir::Module& module, ir::Function& function, PassContext& context)
      : module_(module), function_(function), context_(context), loops_(function), checks_(function) {}

  void run() {
    // Inner loops first: what leaves one may leave the next.
    for (size_t i = loops_.all().size(); i-- > 0;) hoist(loops_.all()[i]);
  }

 private:
  void hoist(const Loop& loop);
  bool isMovable(const ir::Binding& binding, bool isCertain) const;
  std::vector<BlockId> roundBlocks(const Loop& loop) const;

  ir::Module& module_;
  ir::Function& function_;
  PassContext& context_;
  Loops loops_;
  ExtentChecks checks_;
};

/// The blocks that run in each round that is followed by another: from the jumps up to the body.
std::vector<BlockId> InvariantHoister::roundBlocks(const Loop& loop) const {
  std::vector<BlockId> blocks;
  std::unordered_set<BlockId> seen;
  for (const Loop::Jump& jump : loop.inner)
    for (BlockId block = jump.block; seen.insert(block).second; block = loops_.parentOf(block)) {
      blocks.push_back(block);
      if (block == loop.body) break;
    }
  return blocks;
}

/// Names a value, or puts values together or takes them apart: cannot fail but for its checks.
bool isPlain(const ir::Rhs& rhs) {
  return std::holds_alternative<ir::AtomRhs>(rhs) || std::holds_alternative<ir::MakeTuple>(rhs) ||
         std::holds_alternative<ir::Project>(rhs) || std::holds_alternative<ir::Construct>(rhs);
}

bool InvariantHoister::isMovable(const ir::Binding& binding, bool isCertain) const {
  if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) {
    // What has no variable operand is a fill: made in place it is cheaper than kept and copied.
    const bool hasVariable =
        std::any_of(call->args.begin(), call->args.end(), [](const ir::Atom& arg) { return arg.isVar(); });
    return hasVariable && (isCertain || !canFail(function_, binding));
  }
  return isPlain(binding.rhs) && (isCertain || binding.obligations.empty());
}

void InvariantHoister::hoist(const Loop& loop) {
  std::vector<BlockId> blocks = roundBlocks(loop);
  // From outside in, so that what others need has moved before them.
  std::sort(blocks.begin(), blocks.end(),
            [&](BlockId a, BlockId b) { return loops_.orderOf(a) < loops_.orderOf(b); });
  // The first round runs for certain where nothing stands between the loop and its only entry.
  const ir::Block& home = function_.block(loop.block);
  const size_t definition = indexOf(home, loop.var);
  const auto* entry = definition + 1 == home.bindings.size()
                          ? nullptr
                          : std::get_if<ir::CallJoin>(&home.bindings[definition + 1].rhs);
  const bool isEntered = entry != nullptr && entry->join == loop.var;

  std::vector<ir::Binding> moved;
  ExtentChecks::Checked checked;  // by what stays; a block comes after those that it is in
  for (BlockId id : blocks) {
    // Up to the first thing that may not end, or may write.
    bool isCertain = id == loop.body && isEntered;
    std::vector<ir::Binding>& bindings = function_.block(id).bindings;
    std::vector<ir::Binding> stays;
    for (ir::Binding& binding : bindings) {
      const bool staysBehind = checks_.mayRelyOn(checked, module_, function_, binding);
      if (!staysBehind && isMovable(binding, isCertain) && loops_.isInvariant(binding, loop)) {
        loops_.moved(binding.var, loop.block);
        moved.push_back(std::move(binding));
        continue;
      }
      isCertain = isCertain && (isPlain(binding.rhs) || std::holds_alternative<ir::CallOp>(binding.rhs) ||
                                std::holds_alternative<ir::Lambda>(binding.rhs));
      checks_.add(binding, checked);
      stays.push_back(std::move(binding));
    }
    bindings = std::move(stays);
  }
  if (moved.empty()) return;
  context_.count("bindings moved", moved.size());
  insert(function_.block(loop.block), definition, std::move(moved));
}

Result<void> hoistLoopInvariants(ir::Module& module, PassContext& context) {
  for (ir::Function& function : module.functions)
    if (!isFusionGroup(function)) InvariantHoister(module, function, context).run();
  return success();
}

}  // namespace

constinit const PassInfo kHoistInvariantsPass{
    .name = "hoist-invariants",
    .summary = "what is the same in each round of a loop is computed before it",
    .documentation =
        R"(Moves operators, tuples, projections and data whose operands and extents do not change in a loop to the place before it, from inner loops through outer ones. Looked at are the blocks that run in a round that is followed by another, so what only one way out of the loop needs stays there.

An operation that can fail moves only where it runs for certain: from the body itself, with nothing before it that may not end or may write, of a loop that is entered where it stands. What comes after a check that stays in the loop, and may rely on what it found of extents, stays too. Calls of functions, reads of cells and fills without operands stay.)",
    .level = 2,
    .requires_ = Property::Joins,
    .run = hoistLoopInvariants,
};

}  // namespace baton::passes

// The loops of a function: joins that jump to themselves, what goes round in them, and what
// stays the same.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

struct Loop {
  ir::VarId var;
  ir::BlockId block;  ///< that defines it
  ir::BlockId body;
  std::vector<ir::VarId> params;
  struct Jump {
    ir::BlockId block;
    std::vector<ir::Atom> args;
  };
  std::vector<Jump> outer;  ///< that enter it
  std::vector<Jump> inner;  ///< that go round
};

/// Stays right while bindings move between blocks, if `moved` is told; not when blocks are added.
class Loops {
 public:
  explicit Loops(const ir::Function& function);

  const std::vector<Loop>& all() const { return all_; }  ///< outer before inner ones
  /// Whether `block` is `root` or inside.
  bool isInside(ir::BlockId block, ir::BlockId root) const {
    return enter_[root.value()] <= enter_[block.value()] && enter_[block.value()] < leave_[root.value()];
  }
  /// Whether the variable is bound in the body of the loop, its parameters included.
  bool isBoundIn(ir::VarId var, const Loop& loop) const {
    return homeOf(var) != ir::kNoBlock && isInside(homeOf(var), loop.body);
  }
  /// The same for an extent: a symbol that only variables inside have changes from round to round.
  bool isBoundIn(DimSymbol symbol, const Loop& loop) const;
  /// Whether the operands, types, attributes and checks of the binding are the same in each round.
  bool isInvariant(const ir::Binding& binding, const Loop& loop) const;
  /// Whether the block runs in a round that is followed by another.
  bool isInRounds(ir::BlockId block, const Loop& loop) const;
  /// The block that holds the binding that holds this one.
  ir::BlockId parentOf(ir::BlockId block) const { return parent_[block.value()]; }
  /// Position in program order: a block comes before those inside of it.
  uint32_t orderOf(ir::BlockId block) const { return enter_[block.value()]; }
  /// Whether the block is the body of a local function that is no join, or inside of one within `root`.
  bool isDeferred(ir::BlockId block, ir::BlockId root) const;
  void moved(ir::VarId var, ir::BlockId to) { home_[var.value()] = to; }

 private:
  ir::BlockId homeOf(ir::VarId var) const {
    return var.value() < home_.size() ? home_[var.value()] : ir::kNoBlock;
  }

  const ir::Function& function_;
  std::vector<Loop> all_;
  std::vector<uint32_t> enter_, leave_;  // by block: its range in pre-order
  std::vector<ir::BlockId> parent_;      // by block
  std::vector<bool> isLambdaBody_;       // by block
  std::vector<ir::BlockId> home_;        // by variable: the block that binds it
  std::unordered_map<DimSymbol, std::vector<ir::VarId>> binders_;
};

}  // namespace baton::passes

// The control-flow graph of a function: edges, order, dominators and loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compiler/lir/lir.h"

namespace baton::lir {

/// A snapshot: invalid once blocks or terminators change.
class ControlFlow {
 public:
  explicit ControlFlow(const Function& function);

  std::span<const BlockId> successors(BlockId block) const { return row(successors_, block); }
  /// Blocks with an edge to this one, each once; unreachable ones are left out.
  std::span<const BlockId> predecessors(BlockId block) const { return row(predecessors_, block); }
  /// Reachable blocks, a loop's blocks together after its header; each after its dominators.
  std::span<const BlockId> order() const { return order_; }
  bool isReachable(BlockId block) const { return position_[block.value()] != kUnreachable; }
  /// Place in order().
  uint32_t position(BlockId block) const { return position_[block.value()]; }
  /// Immediate dominator; kNoBlock for the entry.
  BlockId dominator(BlockId block) const { return dominators_[block.value()]; }
  bool dominates(BlockId a, BlockId b) const {
    return begin_[a.value()] <= begin_[b.value()] && end_[b.value()] <= end_[a.value()];
  }
  /// Header of the innermost loop that the block is in (its own, for a header); kNoBlock outside.
  BlockId loopHeader(BlockId block) const { return loopHeaders_[block.value()]; }
  /// Header of the loop around this one.
  BlockId outerLoop(BlockId header) const { return outerLoops_[header.value()]; }

 private:
  static constexpr uint32_t kUnreachable = UINT32_MAX;
  struct Rows {
    std::vector<uint32_t> begin;
    std::vector<BlockId> elements;
  };
  static std::span<const BlockId> row(const Rows& rows, BlockId block) {
    const uint32_t b = rows.begin[block.value()];
    return std::span(rows.elements).subspan(b, rows.begin[block.value() + 1] - b);
  }
  void findEdges(const Function& function);
  void findOrder();
  void findDominators();
  void findLoops();
  void groupLoops();

  size_t blockCount_;
  Rows successors_;
  Rows predecessors_;
  std::vector<BlockId> order_;
  std::vector<uint32_t> position_;
  std::vector<BlockId> dominators_;
  std::vector<uint32_t> begin_, end_;  // of the dominator tree, depth first
  std::vector<BlockId> loopHeaders_;
  std::vector<BlockId> outerLoops_;
};

/// Puts the blocks in the order above and drops those that cannot be reached.
void layOutBlocks(Function& function);

}  // namespace baton::lir

#include "compiler/lir/cfg.h"

#include <algorithm>
#include <utility>

#include "compiler/lir/operands.h"

namespace baton::lir {

ControlFlow::ControlFlow(const Function& function) : blockCount_(function.blocks.size()) {
  findEdges(function);
  findOrder();
  findDominators();
  findLoops();
  groupLoops();
}

void ControlFlow::findEdges(const Function& function) {
  successors_.begin.push_back(0);
  std::vector<uint32_t> namedBy(blockCount_, UINT32_MAX);  // the block that named it last
  for (uint32_t from = 0; from < blockCount_; ++from) {
    forEachSuccessor(function, terminatorOf(function.blocks[from]), [&](BlockId target) {
      if (std::exchange(namedBy[target.value()], from) != from) successors_.elements.push_back(target);
    });
    successors_.begin.push_back(static_cast<uint32_t>(successors_.elements.size()));
  }
}

void ControlFlow::findOrder() {
  position_.assign(blockCount_, kUnreachable);
  std::vector<std::pair<BlockId, uint32_t>> stack{{kEntryBlock, 0}};
  std::vector<bool> seen(blockCount_);
  seen[0] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    const std::span<const BlockId> targets = successors(block);
    if (next == targets.size()) {
      order_.push_back(block);
      stack.pop_back();
      continue;
    }
    // The last successor first, so that the reversed order has the first one first.
    const BlockId target = targets[targets.size() - 1 - next++];
    if (seen[target.value()]) continue;
    seen[target.value()] = true;
    stack.push_back({target, 0});
  }
  std::reverse(order_.begin(), order_.end());
  for (uint32_t i = 0; i < order_.size(); ++i) position_[order_[i].value()] = i;

  std::vector<uint32_t> counts(blockCount_ + 1);
  for (BlockId block : order_)
    for (BlockId target : successors(block)) ++counts[target.value() + 1];
  for (size_t i = 1; i <= blockCount_; ++i) counts[i] += counts[i - 1];
  predecessors_.begin = counts;
  predecessors_.elements.resize(counts.back());
  for (BlockId block : order_)
    for (BlockId target : successors(block)) predecessors_.elements[counts[target.value()]++] = block;
}

// Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
void ControlFlow::findDominators() {
  dominators_.assign(blockCount_, kNoBlock);
  std::vector<uint32_t> idom(order_.size(), kUnreachable);
  idom[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = 1; i < order_.size(); ++i) {
      uint32_t common = kUnreachable;
      for (BlockId predecessor : predecessors(order_[i])) {
        uint32_t other = position(predecessor);
        if (idom[other] == kUnreachable) continue;
        if (common == kUnreachable) common = other;
        while (common != other) {
          while (common > other) common = idom[common];
          while (other > common) other = idom[other];
        }
      }
      if (idom[i] == common) continue;
      idom[i] = common;
      changed = true;
    }
  }
  // Children follow their parents in the order, so subtree sizes come from one pass back.
  std::vector<uint32_t> size(order_.size(), 1);
  for (uint32_t i = static_cast<uint32_t>(order_.size()); i-- > 1;) size[idom[i]] += size[i];
  begin_.assign(blockCount_, kUnreachable);
  end_.assign(blockCount_, 0);
  std::vector<uint32_t> next(order_.size());
  for (uint32_t i = 0; i < order_.size(); ++i) {
    const uint32_t begin = i == 0 ? 0 : next[idom[i]];
    if (i != 0) {
      dominators_[order_[i].value()] = order_[idom[i]];
      next[idom[i]] += size[i];
    }
    next[i] = begin + 1;
    begin_[order_[i].value()] = begin;
    end_[order_[i].value()] = begin + size[i];
  }
}

void ControlFlow::findLoops() {
  loopHeaders_.assign(blockCount_, kNoBlock);
  outerLoops_.assign(blockCount_, kNoBlock);
  const auto outermost = [&](BlockId header) {
    while (outerLoops_[header.value()] != kNoBlock) header = outerLoops_[header.value()];
    return header;
  };
  // Inner headers come later in the order than outer ones, so inner loops are found first.
  std::vector<BlockId> work;
  for (size_t i = order_.size(); i-- > 0;) {
    const BlockId header = order_[i];
    for (BlockId predecessor : predecessors(header))
      if (dominates(header, predecessor)) work.push_back(predecessor);
    if (work.empty()) continue;
    loopHeaders_[header.value()] = header;
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      BlockId entry = block;
      if (loopHeaders_[block.value()] == kNoBlock) {
        loopHeaders_[block.value()] = header;
      } else {
        entry = outermost(loopHeaders_[block.value()]);
        if (entry == header) continue;
        outerLoops_[entry.value()] = header;
      }
      for (BlockId predecessor : predecessors(entry)) work.push_back(predecessor);
    }
  }
}

// Reverse postorder may put a block that follows a loop between blocks of the loop. Order by
// depth first over the loop nest keeps each together and dominators first.
void ControlFlow::groupLoops() {
  // The loop that a block belongs to, as seen from the loop `around`: itself when it is directly in it.
  std::vector<std::vector<BlockId>> members(blockCount_ + 1);
  const auto slot = [&](BlockId header) { return header == kNoBlock ? blockCount_ : header.value(); };
  bool hasLoops = false;
  for (BlockId block : order_) {
    const BlockId header = loopHeaders_[block.value()];
    hasLoops |= header != kNoBlock;
    // A header stands for its loop in the one around it, and is the first of its own.
    if (header == block) members[slot(outerLoops_[block.value()])].push_back(block);
    members[slot(header)].push_back(block);
  }
  if (!hasLoops) return;
  order_.clear();
  std::vector<std::pair<size_t, size_t>> stack{{blockCount_, 0}};
  while (!stack.empty()) {
    auto& [loop, next] = stack.back();
    if (next == members[loop].size()) {
      stack.pop_back();
      continue;
    }
    const BlockId block = members[loop][next++];
    if (loopHeaders_[block.value()] == block && loop != block.value())
      stack.push_back({block.value(), 0});
    else
      order_.push_back(block);
  }
  for (uint32_t i = 0; i < order_.size(); ++i) position_[order_[i].value()] = i;
}

void layOutBlocks(Function& function) {
  const ControlFlow flow(function);
  std::vector<Block> blocks;
  blocks.reserve(flow.order().size());
  for (BlockId block : flow.order()) blocks.push_back(std::move(function.block(block)));
  function.blocks = std::move(blocks);
  for (const Block& block : function.blocks)
    forEachSlot(function, terminatorOf(block), [&](uint64_t& slot, OperandKind kind, size_t) {
      if (kind == OperandKind::Target || kind == OperandKind::TargetList)
        slot = flow.position(BlockId(static_cast<uint32_t>(slot)));
    });
}

}  // namespace baton::lir

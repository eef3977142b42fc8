#include "compiler/passes/tail_blocks.h"

#include <algorithm>
#include <iterator>

#include "compiler/ir/walk.h"

namespace baton::passes {

using ir::Atom;
using ir::BlockId;

TailBlocks::TailBlocks(const ir::Function& function) : parent_(function.blocks.size()) {
  for (uint32_t i = 0; i < parent_.size(); ++i) parent_[i] = i;
  for (BlockId id : ir::blocksInOrder(function, function.body)) {
    const ir::Block& block = function.block(id);
    for (size_t i = 0; i < block.bindings.size(); ++i) {
      const ir::Rhs& rhs = block.bindings[i].rhs;
      const bool isBranch = std::holds_alternative<ir::If>(rhs) || std::holds_alternative<ir::Match>(rhs);
      const auto* lambda = std::get_if<ir::Lambda>(&rhs);
      if ((isBranch && isTailBinding(block, i)) || (lambda != nullptr && lambda->isJoin))
        ir::forEachChildBlock(rhs, [&](BlockId child) { addJoin(child, id); });
    }
  }
}

void TailBlocks::addJoin(BlockId body, BlockId definer) { parent_[find(body)] = find(definer); }

uint32_t TailBlocks::find(BlockId block) {
  uint32_t root = block.value();
  while (parent_[root] != root) root = parent_[root] = parent_[parent_[root]];
  return root;
}

bool definesJoin(const ir::Block& block) {
  return std::any_of(block.bindings.begin(), block.bindings.end(), [](const ir::Binding& binding) {
    const auto* lambda = std::get_if<ir::Lambda>(&binding.rhs);
    return lambda != nullptr && lambda->isJoin;
  });
}

void straightenTails(ir::Function& function) {
  std::vector<BlockId> work{function.body};
  while (!work.empty()) {
    const BlockId id = work.back();
    work.pop_back();
    ir::Block& block = function.block(id);
    std::vector<ir::Binding> pending(std::make_move_iterator(block.bindings.rbegin()),
                                     std::make_move_iterator(block.bindings.rend()));
    block.bindings.clear();
    while (!pending.empty()) {
      ir::Binding binding = std::move(pending.back());
      pending.pop_back();
      const bool isTail = pending.empty() && block.result == Atom(binding.var);
      if (const auto* alias = std::get_if<ir::AtomRhs>(&binding.rhs);
          alias != nullptr && isTail && binding.obligations.empty()) {
        block.result = alias->atom;
        // What comes before may be a tail now.
        while (!block.bindings.empty()) {
          const ir::Binding& last = block.bindings.back();
          const auto* before = std::get_if<ir::AtomRhs>(&last.rhs);
          if (before == nullptr || block.result != Atom(last.var) || !last.obligations.empty()) break;
          block.result = before->atom;
          block.bindings.pop_back();
        }
        if (!block.bindings.empty() && std::holds_alternative<ir::NestedBlock>(block.bindings.back().rhs)) {
          pending.push_back(std::move(block.bindings.back()));
          block.bindings.pop_back();
        }
        continue;
      }
      const auto* nested = std::get_if<ir::NestedBlock>(&binding.rhs);
      if (nested == nullptr || !binding.obligations.empty() ||
          (!isTail && definesJoin(function.block(nested->block)))) {
        block.bindings.push_back(std::move(binding));
        continue;
      }
      ir::Block& inner = function.block(nested->block);
      if (isTail)
        block.result = inner.result;
      else
        pending.push_back({binding.var, ir::AtomRhs{inner.result}, binding.location, {}});
      std::move(inner.bindings.rbegin(), inner.bindings.rend(), std::back_inserter(pending));
      inner.bindings.clear();
    }
    for (const ir::Binding& binding : block.bindings)
      ir::forEachChildBlock(binding.rhs, [&](BlockId child) { work.push_back(child); });
  }
}

}  // namespace baton::passes

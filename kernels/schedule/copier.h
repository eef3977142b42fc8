// Copies of what nodes compute, with other values for some of them. Private to kernels/schedule.
#pragma once

#include <unordered_map>

#include "kernels/schedule/editor.h"

namespace baton::schedule {

class Copier {
 public:
  explicit Copier(Editor& editor) : editor_(&editor) {}

  void map(NodeId from, NodeId to) { values_[from] = to; }
  void mapLocal(uint32_t from, uint32_t to) { locals_[from] = to; }
  /// What stands for a value; itself, unless it was mapped or copied.
  NodeId of(NodeId value) const {
    const auto found = values_.find(value);
    return found == values_.end() ? value : found->second;
  }

  /// A value, with those of its operands that are made in a block, at the end of `out`.
  NodeId copy(NodeId value, BlockId within, Nodes& out);
  /// A statement, with all that it holds, at the end of `out`. Loops lose their names, and locals that it
  /// declares become other ones.
  void copyStatement(NodeId statement, Nodes& out);

 private:
  BlockId copyBlock(BlockId block);
  NodeId newVariable(NodeId old);

  Editor* editor_;
  std::unordered_map<NodeId, NodeId> values_;
  std::unordered_map<uint32_t, uint32_t> locals_;
};

}  // namespace baton::schedule

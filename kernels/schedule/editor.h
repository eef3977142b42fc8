// A kernel that is being changed: where each node stands, new nodes, loops and buffers by name. Private to
// kernels/schedule.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kernels/loop/kernel.h"

namespace baton::schedule {

using loop::BlockId;
using loop::Kernel;
using loop::Node;
using loop::NodeId;
using loop::Op;

/// Nodes that are to stand somewhere, in order.
using Nodes = std::vector<NodeId>;

class Editor {
 public:
  explicit Editor(Kernel& kernel) : k_(kernel) { reindex(); }
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  Kernel& kernel() { return k_; }
  const Kernel& kernel() const { return k_; }
  Node& node(NodeId id) { return k_.nodes[id.value()]; }
  const Node& node(NodeId id) const { return k_.nodes[id.value()]; }
  Nodes& nodesOf(BlockId block) { return k_.blocks[block.value()].nodes; }
  const Nodes& nodesOf(BlockId block) const { return k_.blocks[block.value()].nodes; }

  /// After a change: finds out again where everything stands.
  void reindex();

  // Where things stand.
  /// The block that a node is in; that of a loop variable is the body of its loop. Nothing for other leaves,
  /// and for what is nowhere any more or not yet.
  std::optional<BlockId> blockOf(NodeId id) const {
    return id.value() < blockOf_.size() ? blockOf_[id.value()] : std::nullopt;
  }
  /// The loop, branch or reduction whose block it is; nothing for the body of the kernel.
  std::optional<NodeId> ownerOf(BlockId block) const { return ownerOf_[block.value()]; }
  size_t placeIn(BlockId block, NodeId id) const;
  bool isInside(BlockId inner, BlockId outer) const;
  /// Whether a value is made in a block or in those inside of it.
  bool isMadeIn(NodeId value, BlockId block) const;
  /// Order in the text of the kernel.
  uint32_t position(NodeId id) const { return position_[id.value()]; }
  /// All nodes in a block and those inside of it, in the order of the text.
  Nodes allIn(BlockId block) const;

  // By name; errors say what there is no such of.
  Result<NodeId> loopNamed(std::string_view name) const;
  Result<NodeId> reductionNamed(std::string_view name) const;
  Result<loop::BufferIndex> bufferNamed(std::string_view name) const;
  Result<void> nameLoop(NodeId loop, std::string_view name);

  // Parts of a loop.
  NodeId extentOf(NodeId loop) const { return loopParts(k_, node(loop)).extents[0]; }
  NodeId varOf(NodeId loop) const { return loopParts(k_, node(loop)).vars[0]; }
  BlockId bodyOf(NodeId loop) const { return node(loop).body; }

  // New nodes.
  NodeId make(Node node, std::span<const NodeId> operands);
  NodeId make(Node node, std::initializer_list<NodeId> operands) {
    return make(node, std::span(operands.begin(), operands.size()));
  }
  void setOperands(NodeId id, std::span<const NodeId> operands);
  NodeId number(int64_t value);
  /// Arithmetic on i64 at the end of `out`; folded where both are constants, or one does nothing.
  NodeId arithmetic(Nodes& out, Op op, NodeId a, NodeId b);
  NodeId add(Nodes& out, NodeId a, NodeId b) { return arithmetic(out, Op::Add, a, b); }
  NodeId sub(Nodes& out, NodeId a, NodeId b) { return arithmetic(out, Op::Sub, a, b); }
  NodeId mul(Nodes& out, NodeId a, NodeId b) { return arithmetic(out, Op::Mul, a, b); }
  /// By a positive divisor; `canFail` where it is no constant.
  NodeId divide(Nodes& out, Op op, NodeId a, NodeId b);
  /// An extent over the kernel's symbols.
  NodeId dim(Nodes& out, const DimExpr& expr);
  BlockId newBlock(Nodes nodes);
  /// A serial loop without a name, not placed; `body` is written with its variable.
  template <class Body>
  NodeId makeLoop(NodeId extent, Body&& body) {
    const NodeId var = make({.op = Op::LoopVar, .type = DType::I64}, {});
    Nodes nodes;
    body(var, nodes);
    const BlockId block = newBlock(std::move(nodes));
    return make({.op = Op::For, .body = block}, {extent, var});
  }
  void insertBefore(NodeId place, std::span<const NodeId> nodes);
  void insertAtStart(BlockId block, std::span<const NodeId> nodes);
  void insertAtEnd(BlockId block, std::span<const NodeId> nodes);
  void remove(NodeId id);
  void replaceUses(NodeId old, NodeId by);
  /// Takes a scratch buffer that nothing uses away.
  void removeScratch(loop::BufferIndex buffer);
  /// Not declared yet.
  uint32_t addLocal(loop::LocalArray array);
  /// Takes a local that nothing uses away.
  void removeLocal(uint32_t local);

  // Numbers that are known.
  std::optional<int64_t> constantOf(NodeId id) const;

 private:
  void index(BlockId block, std::optional<NodeId> owner);

  Kernel& k_;
  std::vector<std::optional<BlockId>> blockOf_;
  std::vector<std::optional<NodeId>> ownerOf_;
  std::vector<std::optional<BlockId>> outer_;  // of a block
  std::vector<uint32_t> position_;
  uint32_t next_ = 0;
};

}  // namespace baton::schedule

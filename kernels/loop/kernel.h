// Loop IR: the body of one kernel as blocks of nodes. Every value is a node, computed once
// (static single assignment) and named by its index; loops, branches and reductions hold
// nested blocks. Everything lives in the arrays of the Kernel, so copying and freeing never
// recurse. Made with builder.h or parser.h, checked by verifier.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"
#include "base/limits.h"
#include "base/strong_index.h"
#include "kernels/abi/descriptor.h"
#include "kernels/loop/op.h"

namespace baton::loop {

struct NodeTag;
struct BlockTag;
struct BufferTag;
struct LocalTag;
/// A node and the value that it computes. For a For: nothing (its LoopVar is a node of its own).
using NodeId = StrongIndex<NodeTag>;
using BlockId = StrongIndex<BlockTag>;
/// Inputs, then outputs, then scratch.
using BufferIndex = StrongIndex<BufferTag>;
using LocalIndex = StrongIndex<LocalTag>;

/// Deepest nesting of blocks that parser and verifier accept.
inline constexpr int kMaxNesting = 64;
/// Most elements of one local array, and most bytes of all locals of a kernel.
inline constexpr int64_t kMaxLocalElements = 16384;
inline constexpr int64_t kMaxLocalBytes = int64_t{1} << 16;

struct Node {
  Op op = Op::Const;
  DType type = DType::I64;               ///< of the value; of the stored value for Store, SetLocal, SetScalar
  LoopKind loopKind = LoopKind::Serial;  ///< For
  ReduceOp reduceOp = ReduceOp::Sum;     ///< Reduce
  uint32_t target = 0;                   ///< symbol, scalar, buffer, local, message or name; see Op
  uint32_t firstOperand = 0;             ///< into Kernel::operands
  uint32_t operandCount = 0;
  uint64_t bits = 0;    ///< Const: the value. Parallel For: least iterations per piece
  BlockId body{};       ///< For, If, Reduce
  BlockId otherwise{};  ///< If
};

/// `target` of an integer division that cannot fail (its divisor is a constant, not 0 nor -1).
inline constexpr uint32_t kNoMessage = UINT32_MAX;
/// Message of a division by an extent of elements that are there: it never fails, but nobody can know.
inline constexpr std::string_view kZeroExtentMessage = "division by an extent of zero";

struct Block {
  std::vector<NodeId> nodes;
};

/// A buffer that lives while the kernel runs; contents undefined at first.
struct ScratchBuffer {
  DType dtype = DType::F32;
  std::vector<DimExpr> extents;  ///< over the descriptor's symbols
};

/// Registers: rank 0 is a mutable scalar, higher ranks a small array.
struct LocalArray {
  DType dtype = DType::F32;
  std::vector<int64_t> extents;
  int64_t elementCount() const;
};

struct Kernel {
  KernelDescriptor descriptor;
  std::vector<ScratchBuffer> scratch;
  std::vector<LocalArray> locals;
  std::vector<Node> nodes;
  std::vector<NodeId> operands;  ///< the operand lists of all nodes
  std::vector<Block> blocks;     ///< the first is the body
  /// Of loops and reductions, for schedules: identifiers, each of one loop.
  std::vector<std::string> loopNames;

  const Node& node(NodeId id) const { return nodes[id.value()]; }
  const Block& block(BlockId id) const { return blocks[id.value()]; }
  const Block& body() const { return blocks[0]; }
  std::span<const NodeId> operandsOf(const Node& node) const {
    return std::span(operands).subspan(node.firstOperand, node.operandCount);
  }
  std::span<const NodeId> operandsOf(NodeId id) const { return operandsOf(node(id)); }

  uint32_t bufferCount() const {
    return static_cast<uint32_t>(descriptor.inputs.size() + descriptor.outputs.size() + scratch.size());
  }
  bool isInput(BufferIndex buffer) const { return buffer.value() < descriptor.inputs.size(); }
  bool isScratch(BufferIndex buffer) const {
    return buffer.value() >= descriptor.inputs.size() + descriptor.outputs.size();
  }
  DType bufferType(BufferIndex buffer) const;
  const std::vector<DimExpr>& bufferExtents(BufferIndex buffer) const;
};

/// The parts of a For or Reduce operand list.
struct LoopParts {
  std::span<const NodeId> extents;
  std::span<const NodeId> vars;
};
LoopParts loopParts(const Kernel& kernel, const Node& forOrReduce);
/// Empty where it has none.
std::string_view loopName(const Kernel& kernel, const Node& forOrReduce);
/// The value that a Reduce reduces.
NodeId reducedValue(const Kernel& kernel, const Node& reduce);

}  // namespace baton::loop

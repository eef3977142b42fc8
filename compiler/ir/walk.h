// Walks over blocks with an explicit stack, and enumeration of what a right-hand side
// uses. Nothing in here recurses, so neither depth nor length of a program matters.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::ir {

/// Operands in order of evaluation; the callee of CallValue first. The join of a CallJoin
/// is not an operand.
void forEachOperand(const Rhs& rhs, const std::function<void(const Atom&)>& f);
void forEachOperand(Rhs& rhs, const std::function<void(Atom&)>& f);

/// Blocks directly inside, in order: then before else, clauses as written.
void forEachChildBlock(const Rhs& rhs, const std::function<void(BlockId)>& f);

/// Variables that a pattern binds, left to right.
void forEachPatternVar(const Function& function, PatternId pattern, const std::function<void(VarId)>& f);

/// Depth-first traversal in program order. Every callback may be empty. The function may
/// be changed in `leave` of the block in question, not elsewhere.
struct WalkCallbacks {
  std::function<void(BlockId)> enterBlock;
  /// Before the child blocks of the binding; false skips them.
  std::function<bool(BlockId, size_t bindingIndex)> enterBinding;
  /// Before one child block of the binding: where clause variables and parameters come into scope.
  std::function<void(BlockId parent, size_t bindingIndex, size_t childIndex, BlockId child)> enterChild;
  /// After the child blocks of the binding.
  std::function<void(BlockId, size_t bindingIndex)> leaveBinding;
  std::function<void(BlockId)> leaveBlock;
};
void walk(const Function& function, BlockId root, const WalkCallbacks& callbacks);

/// The same, as a walk that can be interrupted before a binding.
class Walker {
 public:
  Walker(const Function& function, BlockId root, WalkCallbacks callbacks);
  /// Walks on, to the end or to a pause; false for a pause.
  bool run();
  /// For `enterBinding`: nothing is done for the binding, and run() begins with it next time.
  void pause() { isPaused_ = true; }

 private:
  struct Frame {
    BlockId block;
    size_t binding = 0;
    std::vector<BlockId> children;  // of the current binding
    size_t child = 0;
    bool inBinding = false;
  };
  void enter(BlockId block);

  const Function& function_;
  const BlockId root_;
  const WalkCallbacks callbacks_;
  std::vector<Frame> stack_;
  bool hasBegun_ = false;
  bool isPaused_ = false;
};

/// All blocks under `root`, itself included, parents before children in program order.
std::vector<BlockId> blocksInOrder(const Function& function, BlockId root);

}  // namespace baton::ir

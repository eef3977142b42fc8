#include "compiler/ir/walk.h"

#include <type_traits>

namespace baton::ir {
namespace {

template <class R, class F>
void visitOperands(R& rhs, const F& f) {
  std::visit(
      [&](auto& node) {
        using T = std::remove_cvref_t<decltype(node)>;
        if constexpr (std::is_same_v<T, AtomRhs>) {
          f(node.atom);
        } else if constexpr (std::is_same_v<T, CallOp> || std::is_same_v<T, CallGlobal> ||
                             std::is_same_v<T, CallJoin> || std::is_same_v<T, Construct> ||
                             std::is_same_v<T, ArrayOp>) {
          for (auto& arg : node.args) f(arg);
        } else if constexpr (std::is_same_v<T, CallValue>) {
          f(node.callee);
          for (auto& arg : node.args) f(arg);
        } else if constexpr (std::is_same_v<T, MakeTuple>) {
          for (auto& element : node.elements) f(element);
        } else if constexpr (std::is_same_v<T, Project>) {
          f(node.tuple);
        } else if constexpr (std::is_same_v<T, If>) {
          f(node.condition);
        } else if constexpr (std::is_same_v<T, Match>) {
          f(node.scrutinee);
        } else if constexpr (std::is_same_v<T, MakeRef>) {
          f(node.value);
        } else if constexpr (std::is_same_v<T, ReadRef>) {
          f(node.cell);
        } else if constexpr (std::is_same_v<T, WriteRef>) {
          f(node.cell);
          f(node.value);
        } else {
          static_assert(std::is_same_v<T, Lambda> || std::is_same_v<T, NestedBlock>);
        }
      },
      rhs);
}

}  // namespace

void forEachOperand(const Rhs& rhs, const std::function<void(const Atom&)>& f) { visitOperands(rhs, f); }
void forEachOperand(Rhs& rhs, const std::function<void(Atom&)>& f) { visitOperands(rhs, f); }

void forEachChildBlock(const Rhs& rhs, const std::function<void(BlockId)>& f) {
  if (const If* branch = std::get_if<If>(&rhs)) {
    f(branch->thenBlock);
    f(branch->elseBlock);
  } else if (const Match* match = std::get_if<Match>(&rhs)) {
    for (const Clause& clause : match->clauses) f(clause.block);
  } else if (const Lambda* lambda = std::get_if<Lambda>(&rhs)) {
    f(lambda->body);
  } else if (const NestedBlock* nested = std::get_if<NestedBlock>(&rhs)) {
    f(nested->block);
  }
}

void forEachPatternVar(const Function& function, PatternId root, const std::function<void(VarId)>& f) {
  std::vector<PatternId> stack{root};
  while (!stack.empty()) {
    const Pattern& pattern = function.pattern(stack.back());
    stack.pop_back();
    if (pattern.kind == Pattern::Kind::Var) f(pattern.var);
    stack.insert(stack.end(), pattern.children.rbegin(), pattern.children.rend());
  }
}

Walker::Walker(const Function& function, BlockId root, WalkCallbacks callbacks)
    : function_(function), root_(root), callbacks_(std::move(callbacks)) {}

void Walker::enter(BlockId block) {
  if (callbacks_.enterBlock) callbacks_.enterBlock(block);
  stack_.push_back({block, 0, {}, 0, false});
}

bool Walker::run() {
  isPaused_ = false;
  if (!std::exchange(hasBegun_, true)) enter(root_);
  while (!stack_.empty()) {
    Frame& frame = stack_.back();
    if (frame.inBinding) {
      if (frame.child < frame.children.size()) {
        BlockId child = frame.children[frame.child];
        if (callbacks_.enterChild) callbacks_.enterChild(frame.block, frame.binding, frame.child, child);
        ++frame.child;
        enter(child);  // invalidates frame
        continue;
      }
      if (callbacks_.leaveBinding) callbacks_.leaveBinding(frame.block, frame.binding);
      frame.inBinding = false;
      ++frame.binding;
      continue;
    }
    if (frame.binding == function_.block(frame.block).bindings.size()) {
      BlockId block = frame.block;
      stack_.pop_back();
      if (callbacks_.leaveBlock) callbacks_.leaveBlock(block);
      continue;
    }
    const bool descend = !callbacks_.enterBinding || callbacks_.enterBinding(frame.block, frame.binding);
    if (isPaused_) return false;
    frame.children.clear();
    frame.child = 0;
    frame.inBinding = true;
    if (descend)
      forEachChildBlock(function_.block(frame.block).bindings[frame.binding].rhs,
                        [&](BlockId child) { frame.children.push_back(child); });
  }
  return true;
}

void walk(const Function& function, BlockId root, const WalkCallbacks& callbacks) {
  Walker(function, root, callbacks).run();
}

std::vector<BlockId> blocksInOrder(const Function& function, BlockId root) {
  std::vector<BlockId> order;
  WalkCallbacks callbacks;
  callbacks.enterBlock = [&](BlockId block) { order.push_back(block); };
  walk(function, root, callbacks);
  return order;
}

}  // namespace baton::ir

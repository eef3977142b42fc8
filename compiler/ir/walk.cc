#include "compiler/ir/walk.h"

#include <type_traits>
#include <unordered_set>

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

void walk(const Function& function, BlockId root, const WalkCallbacks& callbacks) {
  struct Frame {
    BlockId block;
    size_t binding = 0;
    std::vector<BlockId> children;  // of the current binding
    size_t child = 0;
    bool inBinding = false;
  };
  std::vector<Frame> stack;
  auto enter = [&](BlockId block) {
    if (callbacks.enterBlock) callbacks.enterBlock(block);
    stack.push_back({block, 0, {}, 0, false});
  };
  enter(root);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.inBinding) {
      if (frame.child < frame.children.size()) {
        BlockId child = frame.children[frame.child];
        if (callbacks.enterChild) callbacks.enterChild(frame.block, frame.binding, frame.child, child);
        ++frame.child;
        enter(child);  // invalidates frame
        continue;
      }
      if (callbacks.leaveBinding) callbacks.leaveBinding(frame.block, frame.binding);
      frame.inBinding = false;
      ++frame.binding;
      continue;
    }
    if (frame.binding == function.block(frame.block).bindings.size()) {
      BlockId block = frame.block;
      stack.pop_back();
      if (callbacks.leaveBlock) callbacks.leaveBlock(block);
      continue;
    }
    frame.children.clear();
    frame.child = 0;
    frame.inBinding = true;
    bool descend = !callbacks.enterBinding || callbacks.enterBinding(frame.block, frame.binding);
    if (descend)
      forEachChildBlock(function.block(frame.block).bindings[frame.binding].rhs,
                        [&](BlockId child) { frame.children.push_back(child); });
  }
}

std::vector<BlockId> blocksInOrder(const Function& function, BlockId root) {
  std::vector<BlockId> order;
  WalkCallbacks callbacks;
  callbacks.enterBlock = [&](BlockId block) { order.push_back(block); };
  walk(function, root, callbacks);
  return order;
}

namespace {

std::vector<VarId> freeIn(const Function& function, BlockId root, std::span<const VarId> params) {
  std::unordered_set<VarId> bound(params.begin(), params.end());
  std::unordered_set<VarId> seen;
  std::vector<VarId> used;
  auto use = [&](VarId var) {
    if (seen.insert(var).second) used.push_back(var);
  };
  auto useAtom = [&](const Atom& atom) {
    if (atom.isVar()) use(atom.var());
  };
  WalkCallbacks callbacks;
  callbacks.enterBinding = [&](BlockId block, size_t index) {
    const Binding& binding = function.block(block).bindings[index];
    bound.insert(binding.var);
    forEachOperand(binding.rhs, useAtom);
    if (const CallJoin* jump = std::get_if<CallJoin>(&binding.rhs)) use(jump->join);
    if (const Lambda* lambda = std::get_if<Lambda>(&binding.rhs))
      bound.insert(lambda->params.begin(), lambda->params.end());
    if (const Match* match = std::get_if<Match>(&binding.rhs))
      for (const Clause& clause : match->clauses)
        forEachPatternVar(function, clause.pattern, [&](VarId var) { bound.insert(var); });
    return true;
  };
  callbacks.leaveBlock = [&](BlockId block) { useAtom(function.block(block).result); };
  walk(function, root, callbacks);
  // Every variable is bound once, so membership does not depend on where it is used.
  std::erase_if(used, [&](VarId var) { return bound.contains(var); });
  return used;
}

}  // namespace

std::vector<VarId> freeVariables(const Function& function, const Lambda& lambda) {
  return freeIn(function, lambda.body, lambda.params);
}
std::vector<VarId> freeVariables(const Function& function, BlockId block) {
  return freeIn(function, block, {});
}

}  // namespace baton::ir

// Primitives that change loops alone.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "kernels/schedule/accesses.h"
#include "kernels/schedule/primitives.h"

namespace baton::schedule {

using loop::LoopKind;

Result<NodeId> serialLoop(const Editor& editor, const std::string& name) {
  BATON_TRY_ASSIGN(const NodeId loop, editor.loopNamed(name));
  const LoopKind kind = editor.node(loop).loopKind;
  if (kind == LoopKind::Serial) return loop;
  return refused(fmt::format("loop {} is {} already", name, loop::loopKindName(kind)));
}

namespace {

Result<void> splitLoop(Editor& editor, NodeId loop, int64_t factor, std::string_view outerName,
                       std::string_view innerName) {
  if (factor < 1 || factor > INT32_MAX) return refused(fmt::format("a factor of {}", factor));
  const NodeId extent = editor.extentOf(loop);
  const NodeId old = editor.varOf(loop);
  const BlockId body = editor.bodyOf(loop);
  const NodeId size = editor.number(factor);
  Nodes before;
  const NodeId padded = editor.add(before, extent, editor.number(factor - 1));
  const std::optional<int64_t> constant = editor.constantOf(extent);
  const NodeId count = constant ? editor.number(*constant <= 0 ? 0 : (*constant - 1) / factor + 1)
                                : editor.divide(before, Op::FloorDiv, padded, size);
  if (constant) before.clear();
  editor.insertBefore(loop, before);

  const NodeId outerVar = editor.make({.op = Op::LoopVar, .type = DType::I64}, {});
  const NodeId innerVar = editor.make({.op = Op::LoopVar, .type = DType::I64}, {});
  Nodes outside;
  const NodeId start = editor.mul(outside, outerVar, size);
  NodeId length = size;
  if (!constant || *constant % factor != 0)
    length = editor.arithmetic(outside, Op::Min, editor.sub(outside, extent, start), size);
  // Whoever used the variable of the loop uses the sum.
  Node& sum = editor.node(old);
  sum.op = Op::Add;
  const NodeId parts[] = {start, innerVar};
  editor.setOperands(old, parts);
  editor.insertAtStart(body, {{old}});
  const NodeId inner = editor.make({.op = Op::For, .body = body}, {length, innerVar});
  outside.push_back(inner);
  editor.node(loop).body = editor.newBlock(std::move(outside));
  const NodeId operands[] = {count, outerVar};
  editor.setOperands(loop, operands);
  BATON_TRY(editor.nameLoop(loop, outerName));
  BATON_TRY(editor.nameLoop(inner, innerName));
  editor.reindex();
  return success();
}

/// What stands before `inner`, all that `outer` holds beside it, if each iteration of `inner` can find it out
/// again: values that cannot fail, and elements that the loops do not write.
Result<Nodes> movableBetween(const Editor& editor, NodeId outer, NodeId inner) {
  Nodes between = editor.nodesOf(editor.bodyOf(outer));
  const Kernel& kernel = editor.kernel();
  std::set<uint32_t> stored;
  for (const NodeId id : editor.allIn(editor.bodyOf(outer)))
    if (editor.node(id).op == Op::Store) stored.insert(editor.node(id).target);
  const auto isMovable = [&](NodeId id) {
    const Node& node = editor.node(id);
    if (node.op != Op::Load) return isValueOp(node.op) && !mayFail(kernel, node);
    return std::none_of(stored.begin(), stored.end(),
                        [&](uint32_t buffer) { return mayShareMemory(kernel, buffer, node.target); });
  };
  const bool isLast = !between.empty() && between.back() == inner;
  if (isLast) between.pop_back();
  if (isLast && std::all_of(between.begin(), between.end(), isMovable)) return between;
  return refused(fmt::format("loop {} holds more than loop {} and values",
                             loop::loopName(kernel, editor.node(outer)),
                             loop::loopName(kernel, editor.node(inner))));
}

/// Moves what an extent is computed from out of a loop around it; refused where that is not the same in all
/// iterations, or where some may be none at all.
Result<void> hoistExtent(Editor& editor, NodeId loop, NodeId outermost) {
  const BlockId body = editor.bodyOf(outermost);
  Nodes moved;
  Nodes open = {editor.extentOf(loop)};
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    if (!editor.isMadeIn(id, body) || std::find(moved.begin(), moved.end(), id) != moved.end()) continue;
    const Node& node = editor.node(id);
    if (!isValueOp(node.op) || mayFail(editor.kernel(), node))
      return refused(fmt::format("the extent of loop {} depends on loop {}",
                                 loop::loopName(editor.kernel(), editor.node(loop)),
                                 loop::loopName(editor.kernel(), editor.node(outermost))));
    moved.push_back(id);
    const auto ids = editor.kernel().operandsOf(node);
    open.insert(open.end(), ids.begin(), ids.end());
  }
  if (moved.empty()) return success();
  std::sort(moved.begin(), moved.end(),
            [&](NodeId a, NodeId b) { return editor.position(a) < editor.position(b); });
  for (const NodeId id : moved) editor.remove(id);
  editor.insertBefore(outermost, moved);
  editor.reindex();
  return success();
}

/// For an extent that is the same throughout a loop and not negative.
Result<NodeId> fixedExtent(Editor& editor, NodeId loop, NodeId outermost, Nodes& before) {
  BATON_TRY(hoistExtent(editor, loop, outermost));
  const NodeId extent = editor.extentOf(loop);
  const Range range = rangeOf(editor, extent);
  if (range.low && *range.low >= 0) return extent;
  return editor.arithmetic(before, Op::Max, extent, editor.number(0));
}

}  // namespace

Result<Nodes> nestOf(Editor& editor, const Nodes& loops) {
  Nodes nest = loops;
  std::sort(nest.begin(), nest.end(),
            [&](NodeId a, NodeId b) { return editor.position(a) < editor.position(b); });
  for (const NodeId loop : nest)
    if (loop != nest[0]) BATON_TRY(hoistExtent(editor, loop, nest[0]));
  for (size_t i = 0; i + 1 < nest.size(); ++i) {
    BATON_TRY_ASSIGN(const Nodes between, movableBetween(editor, nest[i], nest[i + 1]));
    if (between.empty()) continue;
    editor.nodesOf(editor.bodyOf(nest[i])) = {nest[i + 1]};
    editor.insertAtStart(editor.bodyOf(nest[i + 1]), between);
    editor.reindex();
  }
  return nest;
}

namespace {

Result<void> reorderLoops(Editor& editor, const Nodes& wanted) {
  BATON_TRY_ASSIGN(const Nodes nest, nestOf(editor, wanted));
  for (const NodeId id : editor.allIn(editor.bodyOf(nest[0])))
    if (mayFail(editor.kernel(), editor.node(id)))
      return refused("an iteration may fail, and the first one that does is reported");
  std::optional<NodeId> dependent;
  for (const NodeId loop : nest) {
    Result<void> independent = checkIndependentIn(editor, loop, nest[0]);
    if (!independent.has_value()) {
      // Two iterations that touch one element then differ in one loop only, which keeps its direction.
      if (dependent) return std::move(independent).assume_error();
      dependent = loop;
    }
  }
  // The loops stay where they are, and exchange what they are.
  struct Header {
    NodeId extent;
    NodeId var;
    Node node;
  };
  std::vector<Header> headers;
  for (const NodeId loop : wanted)
    headers.push_back({editor.extentOf(loop), editor.varOf(loop), editor.node(loop)});
  for (size_t i = 0; i < nest.size(); ++i) {
    Node& own = editor.node(nest[i]);
    own.loopKind = headers[i].node.loopKind;
    own.bits = headers[i].node.bits;
    own.target = headers[i].node.target;
    const NodeId operands[] = {headers[i].extent, headers[i].var};
    editor.setOperands(nest[i], operands);
  }
  editor.reindex();
  return success();
}

}  // namespace

Result<void> split(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId loop, serialLoop(editor, primitive.targets[0]));
  return splitLoop(editor, loop, primitive.numbers[0], primitive.results[0], primitive.results[1]);
}

Result<void> fuse(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId outer, serialLoop(editor, primitive.targets[0]));
  BATON_TRY_ASSIGN(const NodeId inner, serialLoop(editor, primitive.targets[1]));
  Nodes before;
  BATON_TRY_ASSIGN(const NodeId innerExtent, fixedExtent(editor, inner, outer, before));
  BATON_TRY_ASSIGN(const NodeId outerExtent, fixedExtent(editor, outer, outer, before));
  BATON_TRY_ASSIGN(const Nodes between, movableBetween(editor, outer, inner));
  const NodeId total = editor.mul(before, outerExtent, innerExtent);
  editor.insertBefore(outer, before);
  const NodeId var = editor.make({.op = Op::LoopVar, .type = DType::I64}, {});
  const NodeId oldOuter = editor.varOf(outer);
  const NodeId oldInner = editor.varOf(inner);
  Nodes start;
  // Whoever used the variables uses what they come to.
  const auto become = [&](NodeId old, Op op) {
    const NodeId value = editor.divide(start, op, var, innerExtent);
    const bool isDivision = !start.empty() && start.back() == value;
    const Node made = isDivision ? editor.node(value) : Node{.op = Op::Add};
    const NodeId parts[] = {isDivision ? var : value, isDivision ? innerExtent : editor.number(0)};
    if (isDivision) start.pop_back();
    editor.node(old).op = made.op;
    editor.node(old).target = made.target;
    editor.setOperands(old, parts);
    start.push_back(old);
  };
  become(oldOuter, Op::FloorDiv);
  become(oldInner, Op::FloorMod);
  start.insert(start.end(), between.begin(), between.end());
  const BlockId body = editor.bodyOf(inner);
  editor.insertAtStart(body, start);
  editor.node(outer).body = body;
  const NodeId operands[] = {total, var};
  editor.setOperands(outer, operands);
  BATON_TRY(editor.nameLoop(outer, primitive.results[0]));
  editor.reindex();
  return success();
}

Result<void> reorder(Editor& editor, const Primitive& primitive) {
  Nodes wanted;
  for (const std::string& name : primitive.targets) {
    BATON_TRY_ASSIGN(const NodeId loop, editor.loopNamed(name));
    if (std::find(wanted.begin(), wanted.end(), loop) != wanted.end())
      return refused(fmt::format("loop {} is named twice", name));
    wanted.push_back(loop);
  }
  return reorderLoops(editor, wanted);
}

Result<void> tile(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId a, serialLoop(editor, primitive.targets[0]));
  BATON_TRY_ASSIGN(const NodeId b, serialLoop(editor, primitive.targets[1]));
  BATON_TRY_ASSIGN(const Nodes nest, nestOf(editor, {a, b}));
  if (nest[0] != a)
    return refused(fmt::format("loop {} is inside of loop {}", primitive.targets[0], primitive.targets[1]));
  const std::vector<std::string>& names = primitive.results;
  // With the parts of `a` around all of `b`, only what counts the outer part of `b` has to move out.
  BATON_TRY(splitLoop(editor, b, primitive.numbers[1], names[1], names[3]));
  BATON_TRY(splitLoop(editor, a, primitive.numbers[0], names[0], names[2]));
  BATON_TRY_ASSIGN(const NodeId innerOfA, editor.loopNamed(names[2]));
  BATON_TRY_ASSIGN(const NodeId outerOfB, editor.loopNamed(names[1]));
  // Out of the way: the sum that stands for the variable of `a`, and the number of tiles along `b`.
  const BlockId between = editor.bodyOf(innerOfA);
  Nodes moved = editor.nodesOf(between);
  moved.pop_back();
  const NodeId sumOfA = moved[0];
  editor.nodesOf(between) = {outerOfB};
  editor.reindex();
  editor.insertBefore(innerOfA, std::span(moved).subspan(1));
  BATON_TRY_ASSIGN(const NodeId innerOfB, editor.loopNamed(names[3]));
  editor.insertAtStart(editor.bodyOf(innerOfB), {{sumOfA}});
  // The start and length of a tile along `b` are made in the outer part of `b`, as the inner part of `a` is
  // to be.
  editor.reindex();
  return reorderLoops(editor, {outerOfB, innerOfA});
}

Result<void> vectorize(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId loop, serialLoop(editor, primitive.targets[0]));
  BATON_TRY(checkIndependent(editor, loop));
  editor.node(loop).loopKind = LoopKind::Vectorized;
  return success();
}

Result<void> unroll(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId loop, serialLoop(editor, primitive.targets[0]));
  if (!editor.constantOf(editor.extentOf(loop)))
    return refused(fmt::format("the extent of loop {} is not constant", primitive.targets[0]));
  editor.node(loop).loopKind = LoopKind::Unrolled;
  return success();
}

Result<void> parallel(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId loop, serialLoop(editor, primitive.targets[0]));
  BATON_TRY(checkIndependent(editor, loop));
  if (primitive.numbers[0] < 1) return refused("a grain of 0");
  editor.node(loop).loopKind = LoopKind::Parallel;
  editor.node(loop).bits = static_cast<uint64_t>(primitive.numbers[0]);
  return success();
}

}  // namespace baton::schedule

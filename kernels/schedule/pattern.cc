#include "kernels/schedule/pattern.h"

#include <algorithm>

#include "kernels/schedule/accesses.h"

namespace baton::schedule {

namespace {

/// Nothing where there are no such loops.
std::optional<Nodes> loopsNamed(const Editor& editor, std::span<const std::string> names) {
  Nodes loops;
  for (const std::string& name : names) {
    const Result<NodeId> loop = editor.loopNamed(name);
    if (!loop.has_value()) return std::nullopt;
    loops.push_back(loop.assume_value());
  }
  return loops;
}

/// Whether the last indices of an access are the variables of the loops, which go through all of these axes -
/// but the first of them, along which nothing has to end where the loop does. Axes of one element do not
/// count.
bool isInOrder(const Editor& editor, const Node& access, std::span<const NodeId> indices,
               std::span<const NodeId> loops) {
  const std::vector<DimExpr>& extents = editor.kernel().bufferExtents(loop::BufferIndex(access.target));
  size_t left = loops.size();
  for (size_t axis = indices.size(); axis-- > 0;) {
    if (extents[axis].asConstant() == 1 && editor.constantOf(indices[axis])) continue;
    if (left == 0) {
      const bool isOther = std::none_of(loops.begin(), loops.end(),
                                        [&](NodeId loop) { return indices[axis] == editor.varOf(loop); });
      if (!isOther) return false;
      continue;
    }
    const NodeId loop = loops[--left];
    if (indices[axis] != editor.varOf(loop)) return false;
    const std::optional<int64_t> extent = editor.constantOf(editor.extentOf(loop));
    if (left > 0 && (!extent || extents[axis].asConstant() != extent)) return false;
  }
  return left == 0;
}

/// Whether everything in the outermost of the loops that uses their variables is in order.
bool areInOrder(const Editor& editor, std::span<const NodeId> loops) {
  const auto isVariable = [&](NodeId id) {
    return std::any_of(loops.begin(), loops.end(), [&](NodeId loop) { return id == editor.varOf(loop); });
  };
  for (const NodeId id : editor.allIn(editor.bodyOf(loops[0]))) {
    const Node& node = editor.node(id);
    std::span<const NodeId> operands = editor.kernel().operandsOf(node);
    if (node.op == Op::For && std::find(loops.begin(), loops.end(), id) != loops.end()) continue;
    if (std::none_of(operands.begin(), operands.end(), isVariable)) continue;
    if (node.op == Op::Store) {
      if (isVariable(operands.back())) return false;
      operands = operands.first(operands.size() - 1);
    } else if (node.op != Op::Load) {
      return false;
    }
    if (!isInOrder(editor, node, operands, loops)) return false;
  }
  return true;
}

}  // namespace

size_t contiguousLoops(const loop::Kernel& kernel, std::span<const std::string> loops) {
  Kernel copy = kernel;
  const Editor editor(copy);
  const std::optional<Nodes> nest = loopsNamed(editor, loops);
  if (!nest) return 1;
  size_t count = 1;
  while (count < nest->size() && areInOrder(editor, std::span(*nest).last(count + 1))) ++count;
  return count;
}

std::optional<TransposedRead> transposedRead(const loop::Kernel& kernel, std::span<const std::string> loops) {
  Kernel copy = kernel;
  const Editor editor(copy);
  const std::optional<Nodes> found = loopsNamed(editor, loops);
  if (!found) return std::nullopt;
  const Nodes& nest = *found;
  const auto grows = [&](const Affine& index, NodeId loop) {
    const auto found = index.terms.find(editor.varOf(loop));
    return found == index.terms.end() ? int64_t{0} : found->second;
  };
  std::optional<TransposedRead> across;
  for (const auto& [buffer, accesses] : accessesIn(editor, editor.bodyOf(nest.back())))
    for (const Access& access : accesses) {
      if (access.indices.empty()) continue;
      const Affine& last = access.indices.back();
      if (access.isStore && grows(last, nest.back()) != 1) return std::nullopt;
      const bool isAlongInner = grows(last, nest.back()) != 0;
      const bool usesInner = std::any_of(access.indices.begin(), access.indices.end(),
                                         [&](const Affine& index) { return grows(index, nest.back()) != 0; });
      if (access.isStore || isAlongInner || !usesInner) continue;
      for (size_t i = 0; i + 1 < nest.size(); ++i)
        if (!across && grows(last, nest[i]) == 1)
          across = TransposedRead{loops[i], sizeBytes(editor.node(access.node).type)};
    }
  return across;
}

}  // namespace baton::schedule

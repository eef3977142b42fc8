// Primitives that move where a buffer is computed.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "kernels/schedule/copier.h"
#include "kernels/schedule/primitives.h"
#include "kernels/schedule/region.h"

namespace baton::schedule {

namespace {

/// Loops that store each element of a scratch buffer once, at the index that their variables are.
struct Producer {
  loop::BufferIndex buffer;
  NodeId root;  ///< the outermost of the loops
  NodeId store;
  Nodes vars;   ///< by axis
  Nodes loops;  ///< by axis
};

Result<Producer> producerOf(const Editor& editor, const std::string& name) {
  Producer producer;
  BATON_TRY_ASSIGN(producer.buffer, editor.bufferNamed(name));
  const Kernel& kernel = editor.kernel();
  if (!kernel.isScratch(producer.buffer)) return refused(fmt::format("{} is no scratch buffer", name));
  const std::map<uint32_t, std::vector<Access>> all = accessesIn(editor, BlockId(0));
  const auto found = all.find(producer.buffer.value());
  const auto isStore = [](const Access& access) { return access.isStore; };
  if (found == all.end() || std::count_if(found->second.begin(), found->second.end(), isStore) != 1)
    return refused(fmt::format("{} is not written in one place", name));
  producer.store = std::find_if(found->second.begin(), found->second.end(), isStore)->node;
  const auto ids = kernel.operandsOf(producer.store);
  producer.vars.assign(ids.begin(), ids.end() - 1);
  producer.root = producer.store;
  producer.loops.assign(producer.vars.size(), producer.store);
  const auto refuse = [&] {
    return refused(
        fmt::format("{} is not written by loops of its own, at the index that their variables are", name));
  };
  for (size_t left = producer.vars.size(); left > 0; --left) {
    const std::optional<NodeId> owner = editor.ownerOf(*editor.blockOf(producer.root));
    if (!owner || editor.node(*owner).op != Op::For) return refuse();
    const auto var = std::find(producer.vars.begin(), producer.vars.end(), editor.varOf(*owner));
    if (var == producer.vars.end()) return refuse();
    producer.loops[static_cast<size_t>(var - producer.vars.begin())] = *owner;
    producer.root = *owner;
  }
  if (std::find(producer.loops.begin(), producer.loops.end(), producer.store) != producer.loops.end())
    return refuse();
  // Nothing else happens in the loops, and what they read is still the same where the buffer is read.
  if (producer.vars.empty()) return refuse();
  std::set<uint32_t> read;
  for (const NodeId id : editor.allIn(editor.bodyOf(producer.root))) {
    const Node& node = editor.node(id);
    const bool isLoop = std::find(producer.loops.begin(), producer.loops.end(), id) != producer.loops.end();
    if (node.op == Op::Load) read.insert(node.target);
    if (id == producer.store || isLoop || isValueOp(node.op) || node.op == Op::Load || node.op == Op::Reduce)
      continue;
    return refuse();
  }
  const auto mayChange = [&](uint32_t stored) {
    return std::any_of(read.begin(), read.end(),
                       [&](uint32_t buffer) { return mayShareMemory(kernel, stored, buffer); });
  };
  for (const auto& [buffer, accesses] : all)
    for (const Access& access : accesses)
      if (access.isStore && access.node != producer.store && mayChange(buffer) &&
          editor.position(access.node) > editor.position(producer.root))
        return refused(fmt::format("what {} is computed from is written later", name));
  for (const Access& access : found->second)
    if (!access.isStore && (editor.position(access.node) < editor.position(producer.root) ||
                            !editor.isInside(*editor.blockOf(access.node), *editor.blockOf(producer.root))))
      return refused(fmt::format("{} is read before it is written", name));
  return producer;
}

std::vector<Access> loadsOf(const Editor& editor, const Producer& producer, BlockId block) {
  std::map<uint32_t, std::vector<Access>> all = accessesIn(editor, block);
  std::vector<Access> loads = std::move(all[producer.buffer.value()]);
  std::erase_if(loads, [](const Access& access) { return access.isStore; });
  return loads;
}

}  // namespace

Result<void> computeInline(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const Producer producer, producerOf(editor, primitive.targets[0]));
  const BlockId whole = editor.bodyOf(producer.root);
  const NodeId stored = editor.kernel().operandsOf(producer.store).back();
  for (const Access& load : loadsOf(editor, producer, BlockId(0))) {
    Copier copier(editor);
    const auto indices = editor.kernel().operandsOf(load.node);
    for (size_t axis = 0; axis < indices.size(); ++axis) copier.map(producer.vars[axis], indices[axis]);
    Nodes before;
    const NodeId value = copier.copy(stored, whole, before);
    editor.insertBefore(load.node, before);
    editor.remove(load.node);
    editor.replaceUses(load.node, value);
  }
  editor.remove(producer.root);
  editor.removeScratch(producer.buffer);
  editor.reindex();
  return success();
}

Result<void> computeAt(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const Producer producer, producerOf(editor, primitive.targets[0]));
  BATON_TRY_ASSIGN(const NodeId loop, editor.loopNamed(primitive.targets[1]));
  const std::vector<Access> loads = loadsOf(editor, producer, editor.bodyOf(loop));
  if (loads.empty() || loads.size() != loadsOf(editor, producer, BlockId(0)).size())
    return refused(fmt::format("{} is read outside of loop {}, or not at all", primitive.targets[0],
                               primitive.targets[1]));
  for (std::optional<NodeId> around = loop; around; around = editor.ownerOf(*editor.blockOf(*around)))
    if (editor.node(*around).op == Op::For && editor.node(*around).loopKind != loop::LoopKind::Serial)
      return refused("iterations that run at once would write the same elements");
  BATON_TRY_ASSIGN(const Region region, regionOf(editor, loop, loads));
  const BlockId whole = editor.bodyOf(producer.root);
  const NodeId stored = editor.kernel().operandsOf(producer.store).back();
  const Nodes nodes = loopsOver(editor, region, [&](Nodes& out, const Nodes&, const Nodes& inBuffer) {
    Copier copier(editor);
    for (size_t axis = 0; axis < inBuffer.size(); ++axis) copier.map(producer.vars[axis], inBuffer[axis]);
    const NodeId value = copier.copy(stored, whole, out);
    Nodes operands = inBuffer;
    operands.push_back(value);
    const Node store = editor.node(producer.store);
    out.push_back(editor.make({.op = Op::Store, .type = store.type, .target = store.target}, operands));
  });
  editor.insertBefore(region.before, nodes);
  editor.remove(producer.root);
  editor.reindex();
  return success();
}

}  // namespace baton::schedule

// Primitives that keep parts of buffers elsewhere.
#include <algorithm>

#include <fmt/format.h>

#include "kernels/schedule/primitives.h"
#include "kernels/schedule/region.h"

namespace baton::schedule {

namespace {

Nodes indicesOf(const Editor& editor, NodeId access) {
  const auto ids = editor.kernel().operandsOf(access);
  const size_t rank = ids.size() - (editor.node(access).op == Op::Store ? 1 : 0);
  return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(rank)};
}

/// A new local for a region, which is of a known size at most.
Result<uint32_t> localFor(Editor& editor, const Region& region, DType type) {
  loop::LocalArray array{type, {}};
  for (const Affine& length : region.length) {
    const Range range = rangeOf(editor, length);
    if (!range.high || *range.high > loop::kMaxLocalElements)
      return refused(fmt::format("axis {} of what is kept has no known extent below {}", array.extents.size(),
                                 loop::kMaxLocalElements));
    array.extents.push_back(std::max<int64_t>(*range.high, 0));
  }
  editor.kernel().locals.push_back(std::move(array));
  return static_cast<uint32_t>(editor.kernel().locals.size() - 1);
}

/// Loads and stores of a buffer become those of a local; the store keeps its value.
void useLocal(Editor& editor, const Region& region, const std::vector<Access>& accesses, uint32_t local) {
  for (const Access& access : accesses) {
    Nodes before;
    Nodes operands;
    const Nodes indices = indicesOf(editor, access.node);
    for (size_t axis = 0; axis < indices.size(); ++axis) {
      // The index less the start of the region, in which what both are made of is gone.
      Affine offset = access.indices[axis];
      offset.constant -= region.start[axis].constant;
      for (const auto& [value, coefficient] : region.start[axis].terms) offset.terms[value] -= coefficient;
      std::erase_if(offset.terms, [](const auto& term) { return term.second == 0; });
      operands.push_back(materialise(editor, before, offset));
    }
    if (access.isStore) operands.push_back(editor.kernel().operandsOf(access.node).back());
    editor.insertBefore(access.node, before);
    Node& node = editor.node(access.node);
    node.op = access.isStore ? Op::SetLocal : Op::GetLocal;
    node.target = local;
    editor.setOperands(access.node, operands);
  }
}

struct Cached {
  NodeId loop;
  loop::BufferIndex buffer;
  std::vector<Access> accesses;
  bool isWritten = false;
};

Result<Cached> cachedOf(const Editor& editor, const Primitive& primitive) {
  Cached cached;
  BATON_TRY_ASSIGN(cached.buffer, editor.bufferNamed(primitive.targets[0]));
  BATON_TRY_ASSIGN(cached.loop, editor.loopNamed(primitive.targets[1]));
  std::map<uint32_t, std::vector<Access>> all = accessesIn(editor, editor.bodyOf(cached.loop));
  const auto found = all.find(cached.buffer.value());
  if (found == all.end())
    return refused(fmt::format("loop {} does not touch {}", primitive.targets[1], primitive.targets[0]));
  cached.accesses = std::move(found->second);
  cached.isWritten = std::any_of(cached.accesses.begin(), cached.accesses.end(),
                                 [](const Access& access) { return access.isStore; });
  return cached;
}

/// Whether another buffer in the loop may share memory with this one.
bool mayBeShared(const Editor& editor, const Cached& cached) {
  const Kernel& kernel = editor.kernel();
  const auto inputs = static_cast<uint32_t>(kernel.descriptor.inputs.size());
  const std::map<uint32_t, std::vector<Access>> all = accessesIn(editor, editor.bodyOf(cached.loop));
  for (uint32_t output = 0; output < kernel.descriptor.outputs.size(); ++output)
    for (const uint32_t input : kernel.descriptor.outputs[output].mayAlias)
      if ((cached.buffer.value() == input || cached.buffer.value() == inputs + output) &&
          all.contains(input) && all.contains(inputs + output))
        return true;
  return false;
}

NodeId declaration(Editor& editor, uint32_t local) {
  return editor.make({.op = Op::Local, .type = editor.kernel().locals[local].dtype, .target = local}, {});
}

Nodes copyIn(Editor& editor, const Region& region, loop::BufferIndex buffer, uint32_t local) {
  const DType type = editor.kernel().bufferType(buffer);
  return loopsOver(editor, region, [&](Nodes& out, const Nodes& inRegion, const Nodes& inBuffer) {
    out.push_back(editor.make({.op = Op::Load, .type = type, .target = buffer.value()}, inBuffer));
    Nodes operands = inRegion;
    operands.push_back(out.back());
    out.push_back(editor.make({.op = Op::SetLocal, .type = type, .target = local}, operands));
  });
}

Nodes copyOut(Editor& editor, const Region& region, loop::BufferIndex buffer, uint32_t local) {
  const DType type = editor.kernel().bufferType(buffer);
  return loopsOver(editor, region, [&](Nodes& out, const Nodes& inRegion, const Nodes& inBuffer) {
    out.push_back(editor.make({.op = Op::GetLocal, .type = type, .target = local}, inRegion));
    Nodes operands = inBuffer;
    operands.push_back(out.back());
    out.push_back(editor.make({.op = Op::Store, .type = type, .target = buffer.value()}, operands));
  });
}

/// Whether a store writes all of its region: along each axis, one element or the variable of an inner loop.
bool fills(const Editor& editor, const Cached& cached, const Access& store) {
  std::vector<NodeId> taken;
  for (const Affine& index : store.indices) {
    int inner = 0;
    for (const auto& [value, coefficient] : index.terms) {
      if (!editor.isMadeIn(value, editor.bodyOf(cached.loop)) || editor.node(value).op != Op::LoopVar ||
          value == editor.varOf(cached.loop))
        continue;
      if (coefficient != 1 || ++inner > 1 || std::find(taken.begin(), taken.end(), value) != taken.end())
        return false;
      taken.push_back(value);
    }
  }
  return true;
}

}  // namespace

Result<void> cacheRead(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const Cached cached, cachedOf(editor, primitive));
  if (cached.isWritten || mayBeShared(editor, cached))
    return refused(fmt::format("loop {} writes {}, or what may share its memory", primitive.targets[1],
                               primitive.targets[0]));
  BATON_TRY_ASSIGN(const Region region, regionOf(editor, cached.loop, cached.accesses));
  BATON_TRY_ASSIGN(const uint32_t local, localFor(editor, region, editor.kernel().bufferType(cached.buffer)));
  Nodes before = copyIn(editor, region, cached.buffer, local);
  before.insert(before.begin(), declaration(editor, local));
  useLocal(editor, region, cached.accesses, local);
  editor.insertBefore(region.before, before);
  editor.reindex();
  return success();
}

Result<void> cacheWrite(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const Cached cached, cachedOf(editor, primitive));
  const auto& accesses = cached.accesses;
  const auto store =
      std::find_if(accesses.begin(), accesses.end(), [](const Access& access) { return access.isStore; });
  if (store == accesses.end())
    return refused(fmt::format("loop {} does not write {}", primitive.targets[1], primitive.targets[0]));
  const bool isAlike = std::all_of(accesses.begin(), accesses.end(),
                                   [&](const Access& access) { return access.indices == store->indices; });
  if (!isAlike || mayBeShared(editor, cached) || !fills(editor, cached, *store))
    return refused(fmt::format("loop {} touches {} in several ways, or only some elements of a part",
                               primitive.targets[1], primitive.targets[0]));
  BATON_TRY_ASSIGN(const Region region, regionOf(editor, cached.loop, accesses));
  BATON_TRY_ASSIGN(const uint32_t local, localFor(editor, region, editor.kernel().bufferType(cached.buffer)));
  Nodes before = {declaration(editor, local)};
  if (std::any_of(accesses.begin(), accesses.end(), [](const Access& access) { return !access.isStore; })) {
    const Nodes copied = copyIn(editor, region, cached.buffer, local);
    before.insert(before.end(), copied.begin(), copied.end());
  }
  const Nodes after = copyOut(editor, region, cached.buffer, local);
  useLocal(editor, region, accesses, local);
  editor.insertBefore(region.before, before);
  editor.insertAtEnd(editor.bodyOf(cached.loop), after);
  editor.reindex();
  return success();
}

Result<void> pack(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const loop::BufferIndex buffer, editor.bufferNamed(primitive.targets[0]));
  Kernel& kernel = editor.kernel();
  if (!kernel.isInput(buffer)) return refused(fmt::format("{} is no input", primitive.targets[0]));
  for (const KernelOperand& output : kernel.descriptor.outputs)
    if (std::find(output.mayAlias.begin(), output.mayAlias.end(), buffer.value()) != output.mayAlias.end())
      return refused(fmt::format("an output may take the memory of {}", primitive.targets[0]));
  const std::vector<DimExpr> extents = kernel.bufferExtents(buffer);
  const auto axis = static_cast<size_t>(primitive.numbers[0]);
  const int64_t factor = primitive.numbers[1];
  if (axis >= extents.size())
    return refused(fmt::format("{} has no axis {}", primitive.targets[0], primitive.numbers[0]));
  if (factor < 1 || factor > INT32_MAX) return refused(fmt::format("a factor of {}", factor));
  const DType type = kernel.bufferType(buffer);
  const std::map<uint32_t, std::vector<Access>> all = accessesIn(editor, BlockId(0));
  if (!all.contains(buffer.value())) return refused(fmt::format("nothing reads {}", primitive.targets[0]));

  // [axis / factor, the other axes, axis % factor], of which the last part of the axis may be a repetition.
  loop::ScratchBuffer packed{type, {ceilDiv(extents[axis], DimExpr::constant(factor))}};
  for (size_t other = 0; other < extents.size(); ++other)
    if (other != axis) packed.extents.push_back(extents[other]);
  packed.extents.push_back(DimExpr::constant(factor));
  kernel.scratch.push_back(packed);
  const uint32_t target = kernel.bufferCount() - 1;

  // Loads first, so that the copy's own is not among them.
  for (const Access& access : all.at(buffer.value())) {
    Nodes before;
    const Nodes indices = indicesOf(editor, access.node);
    const auto [quotient, remainder] = divided(editor, before, indices[axis], factor);
    Nodes operands = {quotient};
    for (size_t other = 0; other < indices.size(); ++other)
      if (other != axis) operands.push_back(indices[other]);
    operands.push_back(remainder);
    editor.insertBefore(access.node, before);
    editor.node(access.node).target = target;
    editor.setOperands(access.node, operands);
  }
  Nodes start;
  Nodes values;
  for (const DimExpr& extent : packed.extents) values.push_back(editor.dim(start, extent));
  const NodeId last = editor.sub(start, editor.dim(start, extents[axis]), editor.number(1));
  Nodes vars;
  const std::function<void(Nodes&)> nest = [&](Nodes& out) {
    if (vars.size() < values.size()) {
      out.push_back(editor.makeLoop(values[vars.size()], [&](NodeId var, Nodes& inner) {
        vars.push_back(var);
        nest(inner);
      }));
      return;
    }
    const NodeId position =
        editor.add(out, editor.mul(out, vars.front(), editor.number(factor)), vars.back());
    Nodes indices(vars.begin() + 1, vars.end() - 1);
    indices.insert(indices.begin() + static_cast<std::ptrdiff_t>(axis),
                   editor.arithmetic(out, Op::Min, position, last));
    out.push_back(editor.make({.op = Op::Load, .type = type, .target = buffer.value()}, indices));
    Nodes operands = vars;
    operands.push_back(out.back());
    out.push_back(editor.make({.op = Op::Store, .type = type, .target = target}, operands));
  };
  nest(start);
  editor.insertAtStart(BlockId(0), start);
  editor.reindex();
  return success();
}

}  // namespace baton::schedule

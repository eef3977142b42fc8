// Primitives for reductions.
#include <fmt/format.h>

#include "kernels/schedule/affine.h"
#include "kernels/schedule/primitives.h"

namespace baton::schedule {

using loop::ReduceOp;

namespace {

bool hasFreeOrder(ReduceOp op, DType type) {
  switch (op) {
    case ReduceOp::Sum:
    case ReduceOp::Prod: return !isFloat(type);
    case ReduceOp::ArgMax:
    case ReduceOp::ArgMin: return false;
    default: return true;
  }
}

}  // namespace

Result<void> rfactor(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId reduce, editor.reductionNamed(primitive.targets[0]));
  const int64_t parts = primitive.numbers[0];
  if (parts < 1 || parts > loop::kMaxLocalElements) return refused(fmt::format("{} parts", parts));
  const loop::LoopParts old = loopParts(editor.kernel(), editor.node(reduce));
  if (old.vars.size() != 1)
    return refused(fmt::format("reduction {} has {} variables", primitive.targets[0], old.vars.size()));
  const ReduceOp op = editor.node(reduce).reduceOp;
  const DType type = editor.node(reduce).type;
  if (!hasFreeOrder(op, type))
    return refused(fmt::format("a {} of {} has an order that parts would change", loop::reduceOpName(op),
                               dtypeShortName(type)));
  const NodeId extent = old.extents[0];
  const NodeId var = old.vars[0];
  const NodeId reduced = reducedValue(editor.kernel(), editor.node(reduce));
  const BlockId body = editor.node(reduce).body;

  // Outside of all loops the parts are in scratch, so that they may be made by several threads.
  const bool isOutside = editor.blockOf(reduce) == BlockId(0);
  Kernel& kernel = editor.kernel();
  const auto access = [&](bool isStore, NodeId index, std::span<const NodeId> value) {
    Nodes operands = {index};
    operands.insert(operands.end(), value.begin(), value.end());
    Node node{.op = isStore ? (isOutside ? Op::Store : Op::SetLocal) : (isOutside ? Op::Load : Op::GetLocal),
              .type = type};
    node.target = isOutside ? kernel.bufferCount() - 1 : static_cast<uint32_t>(kernel.locals.size() - 1);
    return editor.make(node, operands);
  };
  Nodes before;
  if (isOutside) {
    kernel.scratch.push_back({type, {DimExpr::constant(parts)}});
  } else {
    kernel.locals.push_back({type, {parts}});
    before.push_back(editor.make(
        {.op = Op::Local, .type = type, .target = static_cast<uint32_t>(kernel.locals.size() - 1)}, {}));
  }
  const NodeId count = editor.number(parts);
  const NodeId padded = editor.add(before, extent, editor.number(parts - 1));
  const NodeId piece = editor.divide(before, Op::FloorDiv, padded, count);
  const NodeId loop = editor.makeLoop(count, [&](NodeId part, Nodes& nodes) {
    const NodeId start = editor.mul(nodes, part, piece);
    const NodeId length = editor.arithmetic(nodes, Op::Min, editor.sub(nodes, extent, start), piece);
    const NodeId inPart = editor.make({.op = Op::LoopVar, .type = DType::I64}, {});
    // Whoever used the variable of the reduction uses the sum.
    editor.node(var).op = Op::Add;
    const NodeId sum[] = {start, inPart};
    editor.setOperands(var, sum);
    editor.insertAtStart(body, {{var}});
    nodes.push_back(editor.make({.op = Op::Reduce, .type = type, .reduceOp = op, .body = body},
                                {length, inPart, reduced}));
    const NodeId value[] = {nodes.back()};
    nodes.push_back(access(true, part, value));
  });
  before.push_back(loop);
  const NodeId part = editor.make({.op = Op::LoopVar, .type = DType::I64}, {});
  const NodeId read = access(false, part, {});
  editor.node(reduce).body = editor.newBlock({read});
  const NodeId operands[] = {count, part, read};
  editor.setOperands(reduce, operands);
  editor.insertBefore(reduce, before);
  BATON_TRY(editor.nameLoop(loop, primitive.results[0]));
  editor.reindex();
  return success();
}

}  // namespace baton::schedule

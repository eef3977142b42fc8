#include "kernels/schedule/copier.h"

namespace baton::schedule {

NodeId Copier::newVariable(NodeId old) {
  const NodeId var = editor_->make({.op = Op::LoopVar, .type = DType::I64}, {});
  map(old, var);
  return var;
}

NodeId Copier::copy(NodeId value, BlockId within, Nodes& out) {
  if (const auto found = values_.find(value); found != values_.end()) return found->second;
  if (!editor_->isMadeIn(value, within)) return value;
  const Node node = editor_->node(value);
  const auto ids = editor_->kernel().operandsOf(node);
  const Nodes operands(ids.begin(), ids.end());
  Nodes copied;
  if (node.op == Op::Reduce) {
    const size_t rank = operands.size() / 2;
    for (size_t i = 0; i < rank; ++i) copied.push_back(copy(operands[i], within, out));
    for (size_t i = 0; i < rank; ++i) copied.push_back(newVariable(operands[rank + i]));
    Nodes body;
    copied.push_back(copy(operands.back(), within, body));
    Node reduce = node;
    reduce.target = 0;
    reduce.body = editor_->newBlock(std::move(body));
    out.push_back(editor_->make(reduce, copied));
  } else {
    for (const NodeId operand : operands) copied.push_back(copy(operand, within, out));
    out.push_back(editor_->make(node, copied));
  }
  map(value, out.back());
  return out.back();
}

// Blocks nest at most loop::kMaxNesting deep.
BlockId Copier::copyBlock(BlockId block) {
  Nodes body;
  const Nodes nodes = editor_->nodesOf(block);
  for (const NodeId node : nodes) copyStatement(node, body);
  return editor_->newBlock(std::move(body));
}

void Copier::copyStatement(NodeId statement, Nodes& out) {
  Node node = editor_->node(statement);
  const auto ids = editor_->kernel().operandsOf(node);
  Nodes operands(ids.begin(), ids.end());
  if (node.op == Op::For || node.op == Op::Reduce) {
    const size_t rank = operands.size() / 2;
    for (size_t i = 0; i < rank; ++i) operands[i] = of(operands[i]);
    for (size_t i = rank; i < 2 * rank; ++i) operands[i] = newVariable(operands[i]);
    node.body = copyBlock(node.body);
    node.target = 0;
    if (node.op == Op::Reduce) operands.back() = of(operands.back());
  } else {
    for (NodeId& operand : operands) operand = of(operand);
    if (node.op == Op::If) {
      node.body = copyBlock(node.body);
      node.otherwise = copyBlock(node.otherwise);
    } else if (node.op == Op::Local) {
      mapLocal(node.target, editor_->addLocal(editor_->kernel().locals[node.target]));
    }
    const bool usesLocal = node.op == Op::Local || node.op == Op::GetLocal || node.op == Op::SetLocal;
    if (const auto found = locals_.find(node.target); usesLocal && found != locals_.end())
      node.target = found->second;
  }
  out.push_back(editor_->make(node, operands));
  map(statement, out.back());
}

}  // namespace baton::schedule

#include "kernels/loop/captures.h"

#include <algorithm>

namespace baton::loop {

Captures capturesOf(const Kernel& kernel, const Node& loop) {
  Captures captures;
  std::vector<bool> inside(kernel.nodes.size(), false);
  std::vector<bool> localInside(kernel.locals.size(), false);
  std::vector<NodeId> all;
  for (const NodeId var : loopParts(kernel, loop).vars) inside[var.value()] = true;
  std::vector<BlockId> pending = {loop.body};
  while (!pending.empty()) {
    const BlockId id = pending.back();
    pending.pop_back();
    for (const NodeId nodeId : kernel.block(id).nodes) {
      const Node& node = kernel.node(nodeId);
      inside[nodeId.value()] = true;
      all.push_back(nodeId);
      if (node.op == Op::Local) localInside[node.target] = true;
      if (node.op == Op::For || node.op == Op::Reduce) {
        for (const NodeId var : loopParts(kernel, node).vars) inside[var.value()] = true;
        pending.push_back(node.body);
      }
      if (node.op == Op::If) {
        pending.push_back(node.body);
        pending.push_back(node.otherwise);
      }
    }
  }
  for (const NodeId nodeId : all) {
    const Node& node = kernel.node(nodeId);
    for (const NodeId operand : kernel.operandsOf(node)) {
      const Op op = kernel.node(operand).op;
      if (op == Op::Const || op == Op::Symbol || op == Op::ScalarInput || inside[operand.value()]) continue;
      inside[operand.value()] = true;
      captures.values.push_back(operand);
    }
    if ((node.op == Op::GetLocal || node.op == Op::SetLocal) && !localInside[node.target]) {
      localInside[node.target] = true;
      captures.locals.push_back(node.target);
    }
  }
  std::sort(captures.values.begin(), captures.values.end());
  std::sort(captures.locals.begin(), captures.locals.end());
  return captures;
}

}  // namespace baton::loop

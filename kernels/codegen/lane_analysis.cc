#include "kernels/codegen/lane_analysis.h"

#include <algorithm>

namespace baton::codegen {

using loop::BlockId;
using loop::Kernel;
using loop::Node;
using loop::NodeId;
using loop::Op;

LaneAnalysis LaneAnalysis::of(const Kernel& kernel, BlockId block, NodeId laneVar) {
  LaneAnalysis analysis(kernel);
  analysis.strides_[laneVar.value()] = 1;
  analysis.block(block);
  return analysis;
}

void LaneAnalysis::block(BlockId id) {
  for (const NodeId node : k_.block(id).nodes) statement(node);
}

int64_t LaneAnalysis::valueStride(const Node& node) const {
  const auto ids = k_.operandsOf(node);
  if (std::all_of(ids.begin(), ids.end(), [&](NodeId id) { return isUniform(id); })) return 0;
  if (node.type != DType::I64) return kFree;
  const auto strideOf = [&](size_t i) { return strides_[ids[i].value()]; };
  int64_t result = kFree;
  switch (node.op) {
    case Op::Add:
      if (strideOf(0) == kFree || strideOf(1) == kFree) return kFree;
      if (__builtin_add_overflow(strideOf(0), strideOf(1), &result)) return kFree;
      return result;
    case Op::Sub:
      if (strideOf(0) == kFree || strideOf(1) == kFree) return kFree;
      if (__builtin_sub_overflow(strideOf(0), strideOf(1), &result)) return kFree;
      return result;
    case Op::Mul: {
      const bool isRight = k_.node(ids[1]).op == Op::Const;
      if (!isRight && k_.node(ids[0]).op != Op::Const) return kFree;
      const int64_t stride = strideOf(isRight ? 0 : 1);
      const auto factor = static_cast<int64_t>(k_.node(ids[isRight ? 1 : 0]).bits);
      if (stride == kFree || __builtin_mul_overflow(stride, factor, &result)) return kFree;
      return result;
    }
    default: return kFree;
  }
}

void LaneAnalysis::access(NodeId id, const Node& node, bool isLocal, bool stores) {
  auto indices = k_.operandsOf(node);
  if (stores) indices = indices.first(indices.size() - 1);
  const bool isUniformAddress =
      std::all_of(indices.begin(), indices.end(), [&](NodeId index) { return isUniform(index); });
  if (!isLocal && sizeBytes(node.type) < 4) hasCheapMasks_ = false;
  if (isLocal && perLane_[node.target]) {
    if (!isUniformAddress) reject("a local of each lane is indexed differently in each");
    if (!stores) strides_[id.value()] = kFree;
    return;
  }
  if (isUniformAddress && stores) return reject("all lanes store to one place");
  if (isLocal && !isUniformAddress) {
    const bool isConsecutive =
        strides_[indices.back().value()] == 1 &&
        std::all_of(indices.begin(), indices.end() - 1, [&](NodeId index) { return isUniform(index); });
    const bool isColumn =
        !stores && indices.size() == 2 && strides_[indices[0].value()] == 1 && isUniform(indices[1]);
    if (!isConsecutive && !isColumn) reject("a local is not accessed in order");
  }
  if (!stores) strides_[id.value()] = isUniformAddress ? 0 : kFree;
}

void LaneAnalysis::statement(NodeId id) {
  const Node& node = k_.node(id);
  ++nodeCount_;
  switch (node.op) {
    case Op::Load: return access(id, node, false, false);
    case Op::Store: return access(id, node, false, true);
    case Op::GetLocal: return access(id, node, true, false);
    case Op::SetLocal: return access(id, node, true, true);
    case Op::Local: perLane_[node.target] = true; return;
    case Op::SetScalar: return reject("a scalar output is set");
    case Op::Fail: return reject("the body can fail");
    case Op::For: {
      const loop::LoopParts parts = loopParts(k_, node);
      if (!isUniform(parts.extents[0])) reject("the extent of an inner loop differs between lanes");
      return block(node.body);
    }
    case Op::If: block(node.body); return block(node.otherwise);
    case Op::Reduce: {
      hasReduction_ = true;
      for (const NodeId extent : loopParts(k_, node).extents)
        if (!isUniform(extent)) reject("the extent of an inner reduction differs between lanes");
      block(node.body);
      strides_[id.value()] = kFree;
      return;
    }
    default: break;
  }
  if (isIntegerDivision(node.op) && node.target != loop::kNoMessage) reject("a division can fail");
  strides_[id.value()] = valueStride(node);
}

}  // namespace baton::codegen

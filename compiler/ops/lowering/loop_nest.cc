#include "compiler/ops/lowering/loop_nest.h"

#include <algorithm>

namespace baton::ops {

using loop::LoopKind;
using loop::Value;

Value beginParallel(Emitter& emitter, Value extent, double cost, std::optional<int64_t> most) {
  const std::optional<int64_t> constant = most ? most : emitter.constantOf(extent);
  if (constant && static_cast<double>(*constant) * cost < 2 * kPieceCost)
    return emitter.beginLoop(LoopKind::Serial, extent);
  const auto grain = static_cast<uint64_t>(std::max(kPieceCost / std::max(cost, 1.0), 1.0));
  return emitter.beginLoop(LoopKind::Parallel, extent, grain);
}

Result<void> forEachIndex(Emitter& emitter, std::span<const DimExpr> extents, const NestPlan& plan,
                          const NestBody& body) {
  LoopNest nest;
  std::vector<Value> index(extents.size(), emitter.number(0));
  std::vector<size_t> axes;  // those with a loop
  std::vector<Value> counts;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis].isZero()) return success();
    if (extents[axis].asConstant() == 1) continue;
    axes.push_back(axis);
    counts.push_back(emitter.dim(extents[axis]));
  }
  if (axes.empty()) return body(index);
  // None at all where what the nest stores serves nobody.
  for (const DimExpr& extent : plan.served)
    counts[0] = emitter.mul(counts[0], emitter.min(emitter.dim(extent), emitter.number(1)));
  emitter.skipWhenEmpty(counts);
  for (size_t i = 0; i < axes.size(); ++i) {
    index[axes[i]] = emitter.beginLoop(LoopKind::Serial, counts[i]);
    nest.loops.push_back({emitter.nameLoop("i"), extents[axes[i]].asConstant()});
  }
  BATON_TRY(body(index));
  for (size_t i = 0; i < axes.size(); ++i) emitter.end();
  nest.cost = plan.cost;
  nest.isRowWise = plan.isRowWise;
  nest.sharedLoops = axes.size();
  for (const size_t prefix : plan.prefixes) {
    const auto loops = static_cast<size_t>(
        std::count_if(axes.begin(), axes.end(), [&](size_t axis) { return axis < prefix; }));
    if (loops > 0) nest.sharedLoops = std::min(nest.sharedLoops, loops);
  }
  emitter.noteNest(std::move(nest));
  return success();
}

}  // namespace baton::ops

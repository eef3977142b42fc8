#include "compiler/ops/lowering/loop_nest.h"

#include <algorithm>
#include <vector>

namespace baton::ops {

using loop::LoopKind;
using loop::Value;

namespace {

/// Operations that are worth handing to another thread.
constexpr double kPieceCost = 32768;
/// What an extent that is not known is taken for.
constexpr double kTypicalExtent = 256;
/// Rows at least this long pay for divisions that find their indices.
constexpr int64_t kLongRow = 128;

double expected(const DimExpr& extent) {
  return static_cast<double>(extent.asConstant().value_or(static_cast<int64_t>(kTypicalExtent)));
}

class NestWriter {
 public:
  NestWriter(Emitter& emitter, std::span<const DimExpr> extents, const NestPlan& plan)
      : emitter_(emitter), extents_(extents), plan_(plan), index_(extents.size(), emitter.number(0)) {
    for (size_t axis = 0; axis < extents.size(); ++axis)
      if (extents[axis].asConstant() != 1) axes_.push_back(axis);
  }

  Result<void> run(const NestBody& body) {
    for (const DimExpr& extent : extents_)
      if (extent.isZero()) return success();
    if (axes_.empty()) return body(index_);
    const size_t count = axes_.size();
    if (count == 1 && !plan_.isRowWise) {
      vectorLoop();
    } else {
      const size_t first = parallelAxes();
      Value together = emitter_.number(1);
      for (size_t i = 0; i < first; ++i) together = emitter_.mul(together, extentOf(i));
      std::vector<Value> counts = {together};
      for (size_t i = first; i < count; ++i) counts.push_back(extentOf(i));
      emitter_.skipWhenEmpty(counts);
      parallelLoop(first, counts[0]);
      for (size_t i = first; i < count; ++i)
        plainLoop(i + 1 < count || plan_.isRowWise ? LoopKind::Serial : LoopKind::Vectorized, i,
                  counts[i - first + 1]);
    }
    BATON_TRY(body(index_));
    for (; opened_ > 0; --opened_) emitter_.end();
    return success();
  }

 private:
  /// How many of the axes the parallel loop runs over, as one.
  size_t parallelAxes() const {
    const size_t count = axes_.size();
    size_t most = plan_.isRowWise ? count : count - 1;
    if (!plan_.isRowWise && count >= 3) {
      const std::optional<int64_t> row = extents_[axes_.back()].asConstant();
      if (row && *row < kLongRow) most = count - 2;
    }
    for (const size_t prefix : plan_.prefixes) {
      // In axes that have a loop.
      const auto loops = static_cast<size_t>(
          std::count_if(axes_.begin(), axes_.end(), [&](size_t axis) { return axis < prefix; }));
      if (loops > 0) most = std::min(most, loops);
    }
    return most;
  }

  double costFrom(size_t first) const {
    double cost = plan_.cost;
    for (size_t i = first; i < axes_.size(); ++i) cost *= expected(extents_[axes_[i]]);
    return cost;
  }

  Value extentOf(size_t loop) { return emitter_.dim(extents_[axes_[loop]]); }

  /// The count of the outermost loop, or 0 when what the nest stores serves nobody.
  Value ifServing(Value count) {
    for (const DimExpr& extent : plan_.served)
      count = emitter_.mul(count, emitter_.min(emitter_.dim(extent), emitter_.number(1)));
    return count;
  }

  /// The first axes as one loop of `total` iterations.
  void parallelLoop(size_t axisCount, Value total) {
    Value rest = beginParallel(emitter_, ifServing(total), costFrom(axisCount), emitter_.constantOf(total));
    ++opened_;
    for (size_t i = axisCount; i-- > 1;) {
      const Value extent = extentOf(i);
      index_[axes_[i]] = emitter_.floorMod(rest, extent);
      rest = emitter_.floorDiv(rest, extent);
    }
    index_[axes_[0]] = rest;
  }

  void plainLoop(LoopKind kind, size_t axis, Value count) {
    index_[axes_[axis]] = emitter_.beginLoop(kind, count);
    ++opened_;
  }

  /// One axis, executed in lanes; in parallel pieces when it may be long.
  void vectorLoop() {
    const DimExpr& extent = extents_[axes_[0]];
    const std::optional<int64_t> constant = extent.asConstant();
    const double total = static_cast<double>(constant.value_or(INT64_MAX)) * plan_.cost;
    if (total < 2 * kPieceCost) return plainLoop(LoopKind::Vectorized, 0, ifServing(extentOf(0)));
    const auto piece = static_cast<int64_t>(std::max(kPieceCost / plan_.cost / 64, 4.0)) * 64;
    const Value count = ifServing(emitter_.dim(extent));
    const Value pieceSize = emitter_.number(piece);
    const Value pieces = emitter_.floorDiv(emitter_.add(count, emitter_.number(piece - 1)), pieceSize);
    const Value at = emitter_.mul(emitter_.beginLoop(LoopKind::Parallel, pieces), pieceSize);
    const Value here = emitter_.min(emitter_.sub(count, at), pieceSize);
    index_[axes_[0]] = emitter_.add(at, emitter_.beginLoop(LoopKind::Vectorized, here));
    opened_ += 2;
  }

  Emitter& emitter_;
  std::span<const DimExpr> extents_;
  const NestPlan& plan_;
  std::vector<size_t> axes_;  // those with a loop
  std::vector<Value> index_;
  int opened_ = 0;
};

}  // namespace

Value beginParallel(Emitter& emitter, Value extent, double cost, std::optional<int64_t> most) {
  const std::optional<int64_t> constant = most ? most : emitter.constantOf(extent);
  if (constant && static_cast<double>(*constant) * cost < 2 * kPieceCost)
    return emitter.beginLoop(LoopKind::Serial, extent);
  const auto grain = static_cast<uint64_t>(std::max(kPieceCost / std::max(cost, 1.0), 1.0));
  return emitter.beginLoop(LoopKind::Parallel, extent, grain);
}

Result<void> forEachIndex(Emitter& emitter, std::span<const DimExpr> extents, const NestPlan& plan,
                          const NestBody& body) {
  return NestWriter(emitter, extents, plan).run(body);
}

}  // namespace baton::ops

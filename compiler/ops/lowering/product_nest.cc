#include "compiler/ops/lowering/product_nest.h"

#include <algorithm>
#include <optional>

#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

using loop::LoopKind;
using loop::Value;

namespace {

/// Fewer rows are not worth packing for.
constexpr int64_t kRowsWorthPacking = 5;
/// What an inner extent that is not known is taken for.
constexpr int64_t kTypicalInner = 256;

class ProductWriter {
 public:
  ProductWriter(NestContext& context, ProductSpec& spec)
      : context_(context), spec_(spec), e_(context.emitter()), b_(context.builder()) {}

  /// For each batch, panel and row: the sums of a panel's columns, each in sequence, then their results.
  Result<void> run() {
    const std::optional<int64_t> rows = spec_.rows.asConstant();
    if (spec_.layout == RightLayout::Strided && !(rows && *rows < kRowsWorthPacking)) BATON_TRY(pack());
    const DType type = accumulationType(context_.resultType());
    LoopNest nest;
    const std::optional<int64_t> inner = product(spec_.inner).asConstant();
    nest.product = LoopNest::Product{type, {}, {}, spec_.isLeftScattered};
    for (const DimExpr& extent : spec_.inner) nest.product->steps.push_back(extent.asConstant());
    nest.cost = static_cast<double>(kPanelColumns) * static_cast<double>(inner.value_or(kTypicalInner));
    std::vector<DimExpr> extents = spec_.batch;
    extents.insert(extents.end(), {ceilDiv(spec_.columns, DimExpr::constant(kPanelColumns)), spec_.rows});
    std::vector<Value> counts;
    for (const DimExpr& extent : extents) counts.push_back(e_.dim(extent));
    e_.skipWhenEmpty(counts);
    std::vector<Value> at;
    for (size_t i = 0; i < extents.size(); ++i) {
      at.push_back(e_.beginLoop(LoopKind::Serial, counts[i]));
      nest.loops.push_back({e_.nameLoop("i"), extents[i].asConstant()});
    }
    nest.sharedLoops = nest.loops.size();
    const std::span<const Value> batch = std::span(at).first(spec_.batch.size());
    const Value panel = at[spec_.batch.size()];
    const Value row = at.back();
    const Value panelStart = e_.mul(panel, e_.number(kPanelColumns));
    const Value columnsHere = e_.min(e_.sub(e_.dim(spec_.columns), panelStart), e_.number(kPanelColumns));
    const Value summed = spec_.layout == RightLayout::Padded ? e_.number(kPanelColumns) : columnsHere;

    const loop::LocalIndex sums = b_.local(type, {kPanelColumns});
    std::vector<Value> steps;
    for (const DimExpr& extent : spec_.inner) steps.push_back(e_.dim(extent));
    e_.skipWhenEmpty(steps);
    std::vector<Value> k;
    for (const Value count : steps) k.push_back(e_.beginLoop(LoopKind::Serial, count));
    BATON_TRY_ASSIGN(const Value rawLeft, spec_.left(batch, row, k));
    const Value left = loop::cast(rawLeft, type);
    const Value j = beginColumns(nest, summed);
    BATON_TRY_ASSIGN(const Value rawRight, spec_.right({batch, k, panel, j, e_.add(panelStart, j)}));
    const Value right = loop::cast(rawRight, type);
    const Value sum = b_.get(sums, {j});
    b_.set(sums, {j}, isFloat(type) ? loop::fma(left, right, sum) : sum + left * right);
    e_.end();
    for (size_t axis = 0; axis < k.size(); ++axis) e_.end();
    const Value done = beginColumns(nest, columnsHere);
    const Value value = loop::cast(b_.get(sums, {done}), context_.resultType());
    BATON_TRY(context_.sink(spec_.index(batch, row, e_.add(panelStart, done)), value));
    e_.end();
    for (size_t i = 0; i < extents.size(); ++i) e_.end();
    e_.noteNest(std::move(nest));
    return success();
  }

 private:
  Value beginColumns(LoopNest& nest, Value count) {
    const Value column = e_.beginLoop(LoopKind::Serial, count);
    nest.product->columns.push_back(e_.nameLoop("j"));
    return column;
  }

  /// Copies `right` into panels of rows of kPanelColumns, for every batch that it has to do with.
  Result<void> pack() {
    DimExpr panels = ceilDiv(spec_.columns, DimExpr::constant(kPanelColumns));
    const size_t batchRank = spec_.batchOfRight.value_or(spec_.batch.size());
    // Without rows there is nothing to pack, and no memory to ask for, however many batches there are.
    if (batchRank > 0) panels = panels * min(spec_.rows, DimExpr::constant(1));
    std::vector<DimExpr> extents(spec_.batch.begin(),
                                 spec_.batch.begin() + static_cast<std::ptrdiff_t>(batchRank));
    extents.push_back(panels);
    extents.insert(extents.end(), spec_.inner.begin(), spec_.inner.end());
    extents.push_back(DimExpr::constant(kPanelColumns));
    std::vector<DimExpr> own;
    for (const DimExpr& extent : extents) own.push_back(e_.toKernelSymbols(extent));
    const loop::BufferIndex buffer = b_.scratch(context_.inputType(1), own);
    const Value last = e_.sub(e_.dim(spec_.columns), e_.number(1));
    BATON_TRY(forEachIndex(e_, extents, {}, [&](std::span<const Value> index) -> Result<void> {
      const Value panel = index[batchRank];
      const Value inPanel = index.back();
      const Value column = e_.min(e_.add(e_.mul(panel, e_.number(kPanelColumns)), inPanel), last);
      BATON_TRY_ASSIGN(const Value value,
                       spec_.right({index.first(batchRank), index.subspan(batchRank + 1, spec_.inner.size()),
                                    panel, inPanel, column}));
      b_.store(buffer, index, value);
      return success();
    }));
    spec_.layout = RightLayout::Padded;
    spec_.right = [this, buffer, batchRank](const PanelPosition& at) -> Result<Value> {
      const auto batch = at.batch.first(batchRank);
      std::vector<Value> index(batch.begin(), batch.end());
      index.push_back(at.panel);
      index.insert(index.end(), at.inner.begin(), at.inner.end());
      index.push_back(at.inPanel);
      return e_.at(e_.guarded(index), [&] { return b_.load(buffer, index); });
    };
    return success();
  }

  NestContext& context_;
  ProductSpec& spec_;
  Emitter& e_;
  loop::Builder& b_;
};

}  // namespace

std::vector<Value> splitRow(Emitter& emitter, std::span<const DimExpr> extents, Value row) {
  std::vector<Value> index(extents.size(), emitter.number(0));
  // What is left when all axes before are of one place is the position itself.
  size_t first = 0;
  while (first + 1 < extents.size() && extents[first].asConstant() == 1) ++first;
  for (size_t axis = extents.size(); axis-- > first;) {
    if (axis == first) {
      index[axis] = row;
      break;
    }
    const Value extent = emitter.dim(extents[axis]);
    index[axis] = emitter.floorMod(row, extent);
    row = emitter.floorDiv(row, extent);
  }
  return index;
}

Result<void> writeProduct(NestContext& context, ProductSpec spec) {
  return ProductWriter(context, spec).run();
}

}  // namespace baton::ops

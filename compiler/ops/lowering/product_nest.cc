#include "compiler/ops/lowering/product_nest.h"

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

using loop::LoopKind;
using loop::Value;

namespace {

/// Fewer rows are not worth packing for.
constexpr int64_t kRowsWorthPacking = 5;
/// Row blocks of one parallel task.
constexpr int64_t kBlocksOfTask = 16;

/// Nodes of all copies of the sink, one for each row of each kind of tile, up to which every tile
/// hands its own elements on; else one loop does, for all kinds.
constexpr double kMostSinkNodes = 256;

/// Columns of a register tile of so many rows: as many sums as stay in registers beside a row of
/// `right` (which a single row of sums reads from memory) and an element of `left`.
int64_t tileColumns(const LoweringOptions& options, DType type, int64_t rows,
                    std::optional<int64_t> columns) {
  const int64_t lanes = options.vectorBytes / sizeBytes(type);
  const auto fits = [&](int64_t registersOfRow) {
    const int64_t used = rows * registersOfRow + (rows > 1 ? registersOfRow : 0) + 1;
    return used <= options.vectorRegisters && registersOfRow * lanes <= kPanelColumns;
  };
  int64_t registersOfRow = 1;
  while (fits(2 * registersOfRow)) registersOfRow *= 2;
  const int64_t width = std::clamp<int64_t>(registersOfRow * lanes, 1, kPanelColumns);
  if (!columns || *columns >= width) return width;
  return std::max<int64_t>(*columns, 1);
}

/// Bytes of a panel that does not stay near while blocks of rows go through it.
constexpr int64_t kLargestPanel = 512 * 1024;

/// Rows of a tile at most.
constexpr int64_t kTileRows = 6;

class ProductWriter {
 public:
  ProductWriter(NestContext& context, ProductSpec& spec)
      : context_(context), spec_(spec), e_(context.emitter()), b_(context.builder()) {
    type_ = accumulationType(context.resultType());
  }

  Result<void> run() {
    const std::optional<int64_t> rows = spec_.rows.asConstant();
    if (spec_.layout == RightLayout::Strided && !(rows && *rows < kRowsWorthPacking)) BATON_TRY(pack());
    const DimExpr panels = ceilDiv(spec_.columns, DimExpr::constant(kPanelColumns));
    rows_ = e_.dim(spec_.rows);
    columns_ = e_.dim(spec_.columns);
    // Rows are split evenly: blocks of one size, and some of one more.
    const DimExpr blocks = ceilDiv(spec_.rows, DimExpr::constant(kTileRows));
    const DimExpr tasksOfPanel = ceilDiv(blocks, DimExpr::constant(kBlocksOfTask));
    blockCount_ = e_.dim(blocks);
    Value total = e_.mul(e_.dim(panels), e_.dim(tasksOfPanel));
    for (const DimExpr& extent : spec_.batch) total = e_.mul(total, e_.dim(extent));
    const double rowsOfTask = static_cast<double>(std::min(rows.value_or(32), kTileRows * kBlocksOfTask));
    const double cost =
        rowsOfTask * kPanelColumns * static_cast<double>(product(spec_.inner).asConstant().value_or(256));
    Value rest = beginParallel(e_, total, cost);
    // Neighbouring tasks share a panel only after all panels of a batch had their turn.
    const Value panel = e_.floorMod(rest, e_.dim(panels));
    rest = e_.floorDiv(rest, e_.dim(panels));
    const Value group = e_.floorMod(rest, e_.dim(tasksOfPanel));
    rest = e_.floorDiv(rest, e_.dim(tasksOfPanel));
    splitBatch(rest);
    const Value firstBlock = e_.mul(group, e_.number(kBlocksOfTask));
    const Value blocksHere = e_.min(e_.sub(blockCount_, firstBlock), e_.number(kBlocksOfTask));
    const auto allBlocks = [&]() -> Result<void> {
      const Value block = e_.add(firstBlock, e_.beginLoop(LoopKind::Serial, blocksHere));
      BATON_TRY(rowBlock(panel, block));
      e_.end();
      return success();
    };
    if (goesByStrips()) {
      const int64_t width = tileColumns(context_.options(), type_, kTileRows, spec_.columns.asConstant());
      const Value columnsHere =
          e_.min(e_.sub(columns_, e_.mul(panel, e_.number(kPanelColumns))), e_.number(kPanelColumns));
      const Value strips = e_.floorDiv(e_.add(columnsHere, e_.number(width - 1)), e_.number(width));
      strip_ = Strip{e_.mul(e_.beginLoop(LoopKind::Serial, strips), e_.number(width)), width};
      BATON_TRY(allBlocks());
      e_.end();
    } else {
      BATON_TRY(allBlocks());
    }
    e_.end();
    return success();
  }

 private:
  /// The columns of one tile in a panel.
  struct Strip {
    Value start;
    int64_t width;
  };

  /// Whether all blocks of a task have their turn with one tile of columns after the other: where a panel is
  /// more than stays near, and what the blocks read of `left` does.
  bool goesByStrips() const {
    const std::optional<int64_t> inner = product(spec_.inner).asConstant();
    const std::optional<int64_t> rows = spec_.rows.asConstant();
    return spec_.isLeftSmall && inner && rows && *rows > kTileRows &&
           *inner >= kLargestPanel / kPanelColumns / sizeBytes(type_);
  }

  void splitBatch(Value rest) {
    batch_.assign(spec_.batch.size(), e_.number(0));
    for (size_t axis = spec_.batch.size(); axis-- > 0;) {
      const Value extent = e_.dim(spec_.batch[axis]);
      batch_[axis] = axis == 0 ? rest : e_.floorMod(rest, extent);
      rest = axis == 0 ? rest : e_.floorDiv(rest, extent);
    }
  }

  /// Copies `right` into panels of rows of kPanelColumns, for every batch.
  Result<void> pack() {
    const DimExpr panels = ceilDiv(spec_.columns, DimExpr::constant(kPanelColumns));
    std::vector<DimExpr> extents = spec_.batch;
    extents.push_back(panels);
    extents.insert(extents.end(), spec_.inner.begin(), spec_.inner.end());
    extents.push_back(DimExpr::constant(kPanelColumns));
    std::vector<DimExpr> own;
    for (const DimExpr& extent : extents) own.push_back(e_.toKernelSymbols(extent));
    const loop::BufferIndex buffer = b_.scratch(context_.inputType(1), own);
    const size_t batchRank = spec_.batch.size();
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
    spec_.right = [this, buffer](const PanelPosition& at) -> Result<Value> {
      std::vector<Value> index(at.batch.begin(), at.batch.end());
      index.push_back(at.panel);
      index.insert(index.end(), at.inner.begin(), at.inner.end());
      index.push_back(at.inPanel);
      return e_.at(e_.guarded(index), [&] { return b_.load(buffer, index); });
    };
    return success();
  }

  Result<void> rowBlock(Value panel, Value block) {
    // rows = blocks * base + extra: the first `extra` blocks have one row more.
    const Value base = e_.floorDiv(rows_, e_.max(blockCount_, e_.number(1)));
    const Value extra = e_.sub(rows_, e_.mul(base, blockCount_));
    const Value first = e_.add(e_.mul(block, base), e_.min(block, extra));
    const std::optional<int64_t> rows = spec_.rows.asConstant();
    std::set<int64_t> sizes;
    if (rows) {
      const int64_t blocks = std::max<int64_t>((*rows + kTileRows - 1) / kTileRows, 1);
      sizes.insert(*rows / blocks);
      if (*rows % blocks != 0) sizes.insert(*rows / blocks + 1);
      sizes.erase(0);
    } else {
      for (int64_t size = 1; size <= kTileRows; ++size) sizes.insert(size);
    }
    const bool hasOddTiles = !spec_.columns.asConstant() || *spec_.columns.asConstant() % kPanelColumns != 0;
    double copies = 0;
    for (const int64_t size : sizes) copies += static_cast<double>(hasOddTiles ? 2 * size : size);
    if (!strip_ && copies > 2 && copies * context_.sinkCost() > kMostSinkNodes && !sizes.empty())
      finished_ = b_.local(type_, {*sizes.rbegin(), kPanelColumns});
    if (sizes.size() == 1) {
      BATON_TRY(tiles(panel, first, *sizes.begin()));
      return handOn(panel, first, e_.number(*sizes.begin()));
    }
    const Value isLonger = e_.at(e_.deepest(std::array{block, extra}), [&] { return block < extra; });
    const Value size = e_.at(b_.depth(), [&] { return base + loop::cast(isLonger, DType::I64); });
    for (const int64_t candidate : sizes) {
      e_.beginIf(loop::equal(size, e_.number(candidate)));
      BATON_TRY(tiles(panel, first, candidate));
      e_.end();
    }
    return handOn(panel, first, size);
  }

  /// The finished elements of a block, if its tiles have not handed them on.
  Result<void> handOn(Value panel, Value firstRow, Value rowCount) {
    if (!finished_) return success();
    const Value panelStart = e_.mul(panel, e_.number(kPanelColumns));
    const Value columnsHere = e_.min(e_.sub(columns_, panelStart), e_.number(kPanelColumns));
    const Value row = e_.beginLoop(LoopKind::Serial, rowCount);
    const Value at = e_.beginLoop(LoopKind::Vectorized, columnsHere);
    const Value value = loop::cast(b_.get(*finished_, {row, at}), context_.resultType());
    BATON_TRY(context_.sink(spec_.index(batch_, e_.add(firstRow, row), e_.add(panelStart, at)), value));
    e_.end();
    e_.end();
    return success();
  }

  /// The tiles of one panel for `rowCount` rows.
  Result<void> tiles(Value panel, Value firstRow, int64_t rowCount) {
    const std::optional<int64_t> constant = spec_.columns.asConstant();
    tileColumns_ = strip_ ? strip_->width : tileColumns(context_.options(), type_, rowCount, constant);
    const Value panelStart = e_.mul(panel, e_.number(kPanelColumns));
    const Value columnsHere = e_.min(e_.sub(columns_, panelStart), e_.number(kPanelColumns));
    const Value width = e_.number(tileColumns_);
    const Value tileCount = e_.floorDiv(e_.add(columnsHere, e_.number(tileColumns_ - 1)), width);
    const Value start = strip_ ? strip_->start : e_.mul(e_.beginLoop(LoopKind::Serial, tileCount), width);
    const Value left = e_.sub(columnsHere, start);
    if (constant && *constant % tileColumns_ == 0) {
      BATON_TRY(tile(panel, panelStart, start, firstRow, rowCount, std::nullopt));
    } else {
      e_.beginIf(left >= width);
      BATON_TRY(tile(panel, panelStart, start, firstRow, rowCount, std::nullopt));
      e_.beginElse();
      BATON_TRY(tile(panel, panelStart, start, firstRow, rowCount, left));
      e_.end();
    }
    if (!strip_) e_.end();
    return success();
  }

  /// `stored`: how many columns there are to store; nothing: all of the tile.
  Result<void> tile(Value panel, Value panelStart, Value start, Value firstRow, int64_t rowCount,
                    std::optional<Value> stored) {
    const Value whole = e_.number(tileColumns_);
    const bool isPadded = spec_.layout == RightLayout::Padded;
    const Value computed = stored && !isPadded ? *stored : whole;
    std::vector<loop::LocalIndex> sums;
    std::vector<Value> rows;
    for (int64_t r = 0; r < rowCount; ++r) {
      sums.push_back(b_.local(type_, {tileColumns_}));
      rows.push_back(e_.add(firstRow, e_.number(r)));
    }
    std::vector<Value> counts;
    for (const DimExpr& extent : spec_.inner) counts.push_back(e_.dim(extent));
    e_.skipWhenEmpty(counts);
    std::vector<Value> k;
    for (const Value count : counts) k.push_back(e_.beginLoop(LoopKind::Serial, count));
    std::vector<Value> left;
    for (const Value row : rows) {
      BATON_TRY_ASSIGN(const Value value, spec_.left(batch_, row, k));
      left.push_back(loop::cast(value, type_));
    }
    const Value j = e_.beginLoop(LoopKind::Vectorized, computed);
    const Value inPanel = e_.add(start, j);
    BATON_TRY_ASSIGN(const Value raw, spec_.right({batch_, k, panel, inPanel, e_.add(panelStart, inPanel)}));
    const Value right = loop::cast(raw, type_);
    for (size_t r = 0; r < rows.size(); ++r) {
      const Value sum = b_.get(sums[r], {j});
      b_.set(sums[r], {j}, isFloat(type_) ? loop::fma(left[r], right, sum) : sum + left[r] * right);
    }
    e_.end();
    for (size_t axis = 0; axis < k.size(); ++axis) e_.end();
    if (finished_) {
      for (size_t r = 0; r < rows.size(); ++r) {
        const Value at = e_.beginLoop(LoopKind::Vectorized, whole);
        b_.set(*finished_, {e_.number(static_cast<int64_t>(r)), e_.add(start, at)}, b_.get(sums[r], {at}));
        e_.end();
      }
      return success();
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      // Sums that are read whole stay in registers; a part is read from a copy in memory.
      const loop::LocalIndex sum = stored && isPadded ? copyOf(sums[r]) : sums[r];
      const Value at = e_.beginLoop(LoopKind::Vectorized, stored.value_or(whole));
      const Value value = loop::cast(b_.get(sum, {at}), context_.resultType());
      const Value column = e_.add(panelStart, e_.add(start, at));
      BATON_TRY(context_.sink(spec_.index(batch_, rows[r], column), value));
      e_.end();
    }
    return success();
  }

  loop::LocalIndex copyOf(loop::LocalIndex sums) {
    const loop::LocalIndex copy = b_.local(type_, {tileColumns_});
    const Value at = e_.beginLoop(LoopKind::Vectorized, e_.number(tileColumns_));
    b_.set(copy, {at}, b_.get(sums, {at}));
    e_.end();
    return copy;
  }

  NestContext& context_;
  ProductSpec& spec_;
  Emitter& e_;
  loop::Builder& b_;
  DType type_;
  int64_t tileColumns_ = 0;
  std::optional<Strip> strip_;                // the only tile, when blocks go by strips
  std::optional<loop::LocalIndex> finished_;  // rows of a block, when one loop hands them on
  Value rows_;
  Value columns_;
  Value blockCount_;
  std::vector<Value> batch_;
};

}  // namespace

std::vector<Value> splitRow(Emitter& emitter, std::span<const DimExpr> extents, Value row) {
  std::vector<Value> index(extents.size(), row);
  for (size_t axis = extents.size(); axis-- > 0;) {
    if (axis == 0) {
      index[0] = row;
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

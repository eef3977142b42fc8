// Register tiles for what sums products: each element that a row of sums reads serves several rows.
#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "kernels/schedule/copier.h"
#include "kernels/schedule/primitives.h"
#include "kernels/schedule/product.h"

namespace baton::schedule {

using loop::LoopKind;

namespace {

/// Nodes of all copies of what is done with a sum, one for each row of each kind of tile, up to which every
/// tile does it; else one loop does, for all kinds.
constexpr size_t kMostResultNodes = 256;

/// What `LOOP by ROWS LANES REGISTERS CHUNK` asks for.
struct TileShape {
  int64_t rows = 0;
  int64_t lanes = 0;
  int64_t registers = 0;
  int64_t chunk = 0;  ///< steps of the outer loop that all rows have their turn with before the next; 0: all

  /// Columns of a tile of so many rows: as many sums as stay in registers beside a row of what they read (of
  /// which a single row of sums needs none) and one element that is the same in all columns.
  int64_t columns(int64_t rowCount, int64_t most, std::optional<int64_t> there) const {
    const auto fits = [&](int64_t registersOfRow) {
      const int64_t used = rowCount * registersOfRow + (rowCount > 1 ? registersOfRow : 0) + 1;
      return used <= registers && registersOfRow * lanes <= most;
    };
    int64_t registersOfRow = 1;
    while (fits(2 * registersOfRow)) registersOfRow *= 2;
    const int64_t width = std::clamp<int64_t>(registersOfRow * lanes, 1, most);
    return there && *there < width ? std::max<int64_t>(*there, 1) : width;
  }
};

class Tensorizer {
 public:
  Tensorizer(Editor& editor, const Product& product, const TileShape& shape)
      : editor_(editor), product_(product), shape_(shape) {
    findDependent();
  }

  Result<void> run() {
    Nodes loops = {product_.columns, product_.results};
    for (const Step& step : product_.steps) loops.push_back(step.loop);
    for (const NodeId loop : loops)
      if (dependent_.contains(editor_.extentOf(loop))) return refused("rows have sums of other extents");
    const NodeId rows = editor_.extentOf(product_.rows);
    const std::set<int64_t> sizes = sizesOf(rows);
    Nodes before;
    std::optional<NodeId> chunks;
    if (isInChunks()) {
      BATON_TRY_ASSIGN(chunks, writeChunks(sizes, before));
    }
    const NodeId count = quotient(before, rows, shape_.rows);
    const NodeId var = editor_.make({.op = Op::LoopVar, .type = DType::I64}, {});
    // rows = count * base + extra: the first `extra` blocks have one row more.
    const NodeId base = quotientOf(before, rows, count);
    const NodeId extra = editor_.sub(before, rows, editor_.mul(before, base, count));
    Nodes body;
    for (const NodeId id : product_.inRow)
      if (!dependent_.contains(id)) body.push_back(id);
    const NodeId longer = editor_.arithmetic(body, Op::Min, var, extra);
    const NodeId first = editor_.add(body, editor_.mul(body, var, base), longer);
    writeBlock(first, base, editor_.make({.op = Op::Lt, .type = DType::Bool}, {var, extra}), sizes, body);
    if (chunks) {
      before.push_back(*chunks);
      writeWaiting(*totals_, editor_.number(0), rows, true, before);
    }
    editor_.insertBefore(product_.rows, before);
    if (chunks) {
      editor_.remove(product_.rows);
      editor_.nodesOf(editor_.bodyOf(*chunks)).push_back(product_.rows);
    }
    editor_.node(product_.rows).body = editor_.newBlock(std::move(body));
    const NodeId operands[] = {count, var};
    editor_.setOperands(product_.rows, operands);
    editor_.removeLocal(product_.sums);
    editor_.reindex();
    return success();
  }

 private:
  /// The copiers of the rows of a tile.
  using Rows = std::vector<Copier>;

  bool isInChunks() const {
    return shape_.chunk > 0 &&
           editor_.constantOf(editor_.extentOf(product_.steps[0].loop)).value_or(INT64_MAX) > shape_.chunk;
  }

  /// The loop over chunks of steps, around that over rows, and where sums stand between chunks.
  Result<NodeId> writeChunks(const std::set<int64_t>& sizes, Nodes& out) {
    const std::optional<int64_t> rows = rangeOf(editor_, editor_.extentOf(product_.rows)).high;
    if (!rows) return refused("chunks of the sums of any number of rows");
    const int64_t columns = columnsOfTiles(sizes);
    if (*rows > loop::kMaxLocalElements / columns)
      return refused(fmt::format("chunks of the sums of {} rows of {}; expected at most {} sums", *rows,
                                 columns, loop::kMaxLocalElements));
    totals_ = editor_.addLocal(
        {editor_.kernel().locals[product_.sums].dtype, {std::max<int64_t>(*rows, 1), columns}});
    declare(*totals_, out);
    const NodeId steps = editor_.extentOf(product_.steps[0].loop);
    if (editor_.isMadeIn(steps, editor_.bodyOf(product_.rows)))
      return refused("chunks of steps whose number a row finds out");
    return editor_.makeLoop(quotient(out, steps, shape_.chunk), [&](NodeId chunk, Nodes& inChunk) {
      const NodeId size = editor_.number(shape_.chunk);
      const std::optional<int64_t> constant = editor_.constantOf(steps);
      chunkStart_ = editor_.mul(inChunk, chunk, size);
      chunkSteps_ = size;
      if (!constant || *constant % shape_.chunk != 0)
        chunkSteps_ = editor_.arithmetic(inChunk, Op::Min, editor_.sub(inChunk, steps, *chunkStart_), size);
    });
  }

  /// What differs between rows: what is made of their variable, and statements that hold others.
  void findDependent() {
    dependent_.insert(editor_.varOf(product_.rows));
    const auto add = [&](const Nodes& nodes) {
      for (const NodeId id : nodes) {
        const Node& node = editor_.node(id);
        const auto ids = editor_.kernel().operandsOf(node);
        const bool isValue = isValueOp(node.op) || node.op == Op::Load;
        if (!isValue ||
            std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return dependent_.contains(id); }))
          dependent_.insert(id);
      }
    };
    add(product_.inRow);
    for (const Step& step : product_.steps) add(step.statements);
    add(editor_.nodesOf(editor_.bodyOf(product_.columns)));
  }

  /// Rows of blocks, which have almost as many each.
  std::set<int64_t> sizesOf(NodeId rows) const {
    std::set<int64_t> sizes;
    if (const std::optional<std::set<int64_t>> counts = rowCounts(editor_, rows)) {
      for (const int64_t count : *counts) {
        const int64_t blocks = std::max<int64_t>((count + shape_.rows - 1) / shape_.rows, 1);
        sizes.insert(count / blocks);
        if (count % blocks != 0) sizes.insert(count / blocks + 1);
      }
      sizes.erase(0);
    } else {
      for (int64_t size = 1; size <= shape_.rows; ++size) sizes.insert(size);
    }
    return sizes;
  }

  /// Up to the end of the last tile, in blocks of any of the sizes.
  int64_t columnsOfTiles(const std::set<int64_t>& sizes) const {
    const int64_t results = std::max<int64_t>(constantColumns().value_or(mostColumns()), 1);
    int64_t columns = results;
    for (const int64_t size : sizes) {
      const int64_t width = shape_.columns(size, mostColumns(), constantColumns());
      columns = std::max(columns, (results + width - 1) / width * width);
    }
    return columns;
  }

  /// Rounded up, of what is not negative.
  NodeId quotient(Nodes& out, NodeId value, int64_t divisor) {
    if (const std::optional<int64_t> constant = editor_.constantOf(value))
      return editor_.number((std::max<int64_t>(*constant, 0) + divisor - 1) / divisor);
    return editor_.divide(out, Op::FloorDiv, editor_.add(out, value, editor_.number(divisor - 1)),
                          editor_.number(divisor));
  }
  /// Rows of a block at least.
  NodeId quotientOf(Nodes& out, NodeId rows, NodeId count) {
    const std::optional<int64_t> a = editor_.constantOf(rows);
    const std::optional<int64_t> b = editor_.constantOf(count);
    if (a && b) return editor_.number(*b > 0 ? *a / *b : 0);
    return editor_.divide(out, Op::FloorDiv, rows,
                          editor_.arithmetic(out, Op::Max, count, editor_.number(1)));
  }

  void writeBlock(NodeId first, NodeId base, NodeId isLonger, const std::set<int64_t>& sizes, Nodes& out) {
    if (sizes.empty()) return;
    const std::optional<int64_t> stored = constantColumns();
    const int64_t most = mostColumns();
    const size_t resultNodes = editor_.allIn(editor_.bodyOf(product_.results)).size();
    size_t copies = 0;
    for (const int64_t size : sizes) {
      const bool hasParts = !stored || *stored % shape_.columns(size, most, stored) != 0;
      copies += static_cast<size_t>(hasParts ? 2 * size : size);
    }
    if (!totals_ && copies > 2 && copies * resultNodes > kMostResultNodes) {
      finished_ = editor_.addLocal(
          {editor_.kernel().locals[product_.sums].dtype, {*sizes.rbegin(), columnsOfTiles(sizes)}});
      declare(*finished_, out);
    }
    NodeId size = editor_.number(*sizes.begin());
    if (sizes.size() == 1) {
      writeTiles(first, *sizes.begin(), out);
    } else {
      out.push_back(isLonger);
      out.push_back(editor_.make({.op = Op::Cast, .type = DType::I64}, {isLonger}));
      size = editor_.add(out, base, out.back());
      for (const int64_t candidate : sizes) {
        out.push_back(editor_.make({.op = Op::Eq, .type = DType::Bool}, {size, editor_.number(candidate)}));
        const NodeId condition = out.back();
        Nodes then;
        writeTiles(first, candidate, then);
        const BlockId body = editor_.newBlock(std::move(then));
        const BlockId otherwise = editor_.newBlock({});
        out.push_back(editor_.make({.op = Op::If, .body = body, .otherwise = otherwise}, {condition}));
      }
    }
    if (finished_) writeWaiting(*finished_, first, size, false, out);
  }

  int64_t mostColumns() const { return editor_.kernel().locals[product_.sums].extents[0]; }
  std::optional<int64_t> constantColumns() const {
    return editor_.constantOf(editor_.extentOf(product_.results));
  }

  void declare(uint32_t local, Nodes& out) {
    const DType type = editor_.kernel().locals[local].dtype;
    out.push_back(editor_.make({.op = Op::Local, .type = type, .target = local}, {}));
  }
  NodeId get(uint32_t local, std::initializer_list<NodeId> index, Nodes& out) {
    const DType type = editor_.kernel().locals[local].dtype;
    out.push_back(editor_.make({.op = Op::GetLocal, .type = type, .target = local}, index));
    return out.back();
  }
  void set(uint32_t local, std::span<const NodeId> indexAndValue, Nodes& out) {
    const DType type = editor_.kernel().locals[local].dtype;
    out.push_back(editor_.make({.op = Op::SetLocal, .type = type, .target = local}, indexAndValue));
  }

  template <class Body>
  void loop(LoopKind kind, NodeId extent, Nodes& out, Body&& body) {
    out.push_back(editor_.makeLoop(extent, body));
    editor_.node(out.back()).loopKind = kind;
  }

  /// A row of its own, with what is the same in all of its columns. `isApart`: outside of the loop over rows.
  Copier rowAt(NodeId position, Nodes& out, bool isApart) {
    Copier copier(editor_);
    copier.map(editor_.varOf(product_.rows), position);
    for (const NodeId id : product_.inRow)
      if (isApart || dependent_.contains(id)) copier.copyStatement(id, out);
    return copier;
  }

  void writeTiles(NodeId first, int64_t rowCount, Nodes& out) {
    Rows rows;
    for (int64_t r = 0; r < rowCount; ++r)
      rows.push_back(rowAt(editor_.add(out, first, editor_.number(r)), out, false));
    width_ = shape_.columns(rowCount, mostColumns(), constantColumns());
    const NodeId tiles = quotient(out, editor_.extentOf(product_.results), width_);
    loop(LoopKind::Serial, tiles, out, [&](NodeId tile, Nodes& body) {
      writeTileOrPart(rows, editor_.mul(body, tile, editor_.number(width_)), body);
    });
  }

  /// What there is of the columns of a tile.
  void writeTileOrPart(const Rows& rows, NodeId start, Nodes& out) {
    const std::optional<int64_t> constant = constantColumns();
    if (constant && *constant % width_ == 0) return writeTile(rows, start, std::nullopt, out);
    const NodeId left = editor_.sub(out, editor_.extentOf(product_.results), start);
    out.push_back(editor_.make({.op = Op::Ge, .type = DType::Bool}, {left, editor_.number(width_)}));
    const NodeId condition = out.back();
    Nodes whole;
    writeTile(rows, start, std::nullopt, whole);
    Nodes part;
    writeTile(rows, start, left, part);
    const BlockId then = editor_.newBlock(std::move(whole));
    const BlockId otherwise = editor_.newBlock(std::move(part));
    out.push_back(editor_.make({.op = Op::If, .body = then, .otherwise = otherwise}, {condition}));
  }

  /// `left`: how many columns have results, where that is a part of the tile.
  void writeTile(Rows rows, NodeId start, std::optional<NodeId> left, Nodes& out) {
    const NodeId whole = editor_.number(width_);
    // Columns without results may be summed, too, if there is something to sum.
    const std::optional<int64_t> summed = editor_.constantOf(editor_.extentOf(product_.columns));
    const bool isPadded = summed && *summed % width_ == 0;
    std::vector<uint32_t> sums;
    for (size_t r = 0; r < rows.size(); ++r) {
      sums.push_back(editor_.addLocal({editor_.kernel().locals[product_.sums].dtype, {width_}}));
      declare(sums.back(), out);
      if (totals_) fetchSums(sums[r], positionOf(rows[r]), start, out);
    }
    Copier shared(editor_);
    writeSteps(0, rows, shared, out, [&](Nodes& body) {
      loop(LoopKind::Vectorized, left && !isPadded ? *left : whole, body, [&](NodeId column, Nodes& inner) {
        mapAll(rows, shared, editor_.varOf(product_.columns), editor_.add(inner, start, column));
        const Nodes statements = editor_.nodesOf(editor_.bodyOf(product_.columns));
        for (const NodeId id : statements) {
          if (!usesLocal(editor_.node(id), product_.sums)) {
            copyForRows(rows, shared, id, inner);
            continue;
          }
          const bool isRead = editor_.node(id).op == Op::GetLocal;
          for (size_t r = 0; r < rows.size(); ++r) {
            if (isRead) {
              rows[r].map(id, get(sums[r], {column}, inner));
              continue;
            }
            const NodeId operands[] = {column, rows[r].of(editor_.kernel().operandsOf(id)[1])};
            set(sums[r], operands, inner);
          }
        }
      });
    });
    for (size_t r = 0; r < rows.size(); ++r) {
      if (totals_) {
        putAside(sums[r], *totals_, positionOf(rows[r]), start, out);
        continue;
      }
      if (finished_) {
        putAside(sums[r], *finished_, editor_.number(static_cast<int64_t>(r)), start, out);
        continue;
      }
      // Sums that are read whole stay in registers; a part is read from a copy in memory.
      const uint32_t read = left && isPadded ? copyOf(sums[r], out) : sums[r];
      writeResults(rows[r], left.value_or(whole), start, out,
                   [&](NodeId column, Nodes& body) { return get(read, {column}, body); });
    }
  }

  /// The loops of a sum from the given one inwards; `body` writes what the last one does.
  void writeSteps(size_t from, Rows& rows, Copier& shared, Nodes& out,
                  const std::function<void(Nodes& out)>& body) {
    if (from == product_.steps.size()) return body(out);
    const Step& step = product_.steps[from];
    const bool isChunk = from == 0 && chunkStart_;
    const NodeId count = isChunk ? *chunkSteps_ : shared.of(editor_.extentOf(step.loop));
    loop(LoopKind::Serial, count, out, [&](NodeId at, Nodes& inner) {
      mapAll(rows, shared, editor_.varOf(step.loop), isChunk ? editor_.add(inner, *chunkStart_, at) : at);
      for (const NodeId id : step.statements) copyForRows(rows, shared, id, inner);
      writeSteps(from + 1, rows, shared, inner, body);
    });
  }

  NodeId positionOf(const Copier& row) const { return row.of(editor_.varOf(product_.rows)); }

  /// The sums of a tile, from column `start` on, into a row of those that wait.
  void putAside(uint32_t sums, uint32_t waiting, NodeId row, NodeId start, Nodes& out) {
    loop(LoopKind::Vectorized, editor_.number(width_), out, [&](NodeId column, Nodes& body) {
      const NodeId inRow = editor_.add(body, start, column);
      const NodeId operands[] = {row, inRow, get(sums, {column}, body)};
      set(waiting, operands, body);
    });
  }
  /// The other way round.
  void fetchSums(uint32_t sums, NodeId row, NodeId start, Nodes& out) {
    loop(LoopKind::Vectorized, editor_.number(width_), out, [&](NodeId column, Nodes& body) {
      const NodeId value = get(*totals_, {row, editor_.add(body, start, column)}, body);
      const NodeId operands[] = {column, value};
      set(sums, operands, body);
    });
  }

  static void mapAll(Rows& rows, Copier& shared, NodeId from, NodeId to) {
    shared.map(from, to);
    for (Copier& row : rows) row.map(from, to);
  }

  /// Once for each row where rows differ in it, else once.
  void copyForRows(Rows& rows, Copier& shared, NodeId statement, Nodes& out) {
    if (dependent_.contains(statement)) {
      for (Copier& row : rows) row.copyStatement(statement, out);
      return;
    }
    shared.copyStatement(statement, out);
    for (Copier& row : rows) row.map(statement, shared.of(statement));
  }

  uint32_t copyOf(uint32_t local, Nodes& out) {
    const uint32_t copy = editor_.addLocal(editor_.kernel().locals[local]);
    declare(copy, out);
    loop(LoopKind::Vectorized, editor_.number(width_), out, [&](NodeId column, Nodes& body) {
      const NodeId operands[] = {column, get(local, {column}, body)};
      set(copy, operands, body);
    });
    return copy;
  }

  /// What is done with `count` finished sums of a row, from `start` on.
  template <class Sum>
  void writeResults(Copier& row, NodeId count, NodeId start, Nodes& out, Sum&& sum) {
    loop(LoopKind::Vectorized, count, out, [&](NodeId column, Nodes& body) {
      row.map(editor_.varOf(product_.results), editor_.add(body, start, column));
      const Nodes statements = editor_.nodesOf(editor_.bodyOf(product_.results));
      for (const NodeId id : statements)
        if (usesLocal(editor_.node(id), product_.sums))
          row.map(id, sum(column, body));
        else
          row.copyStatement(id, body);
    });
  }

  /// The results of rows whose sums wait. `isApart`: outside of the loop over rows.
  void writeWaiting(uint32_t waiting, NodeId first, NodeId rowCount, bool isApart, Nodes& out) {
    loop(LoopKind::Serial, rowCount, out, [&](NodeId at, Nodes& body) {
      Copier row = rowAt(editor_.add(body, first, at), body, isApart);
      writeResults(row, row.of(editor_.extentOf(product_.results)), editor_.number(0), body,
                   [&](NodeId column, Nodes& inner) { return get(waiting, {at, column}, inner); });
    });
  }

  Editor& editor_;
  const Product& product_;
  const TileShape& shape_;
  std::set<NodeId> dependent_;
  int64_t width_ = 0;                 // of the tiles that are being written
  std::optional<uint32_t> finished_;  // sums of a block, when one loop writes its results
  std::optional<uint32_t> totals_;    // sums of all rows between chunks of steps
  std::optional<NodeId> chunkStart_;  // the first step of a chunk
  std::optional<NodeId> chunkSteps_;
};

}  // namespace

Result<void> tensorize(Editor& editor, const Primitive& primitive) {
  const TileShape shape{primitive.numbers[0], primitive.numbers[1], primitive.numbers[2],
                        primitive.numbers[3]};
  if (shape.chunk < 0) return refused(fmt::format("chunks of {} steps; expected at least 0", shape.chunk));
  constexpr int64_t kMost = 64;
  for (const int64_t number : {shape.rows, shape.lanes, shape.registers})
    if (number < 1 || number > kMost)
      return refused(fmt::format("{} rows, lanes or registers; expected 1 to {}", number, kMost));
  BATON_TRY_ASSIGN(const Product product, productOf(editor, primitive));
  return Tensorizer(editor, product, shape).run();
}

}  // namespace baton::schedule

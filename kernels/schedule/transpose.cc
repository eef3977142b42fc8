// Squares of elements that are read along one loop and written along another.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "kernels/schedule/accesses.h"
#include "kernels/schedule/copier.h"
#include "kernels/schedule/primitives.h"

namespace baton::schedule {

using loop::LoopKind;

namespace {

class Transposer {
 public:
  Transposer(Editor& editor, NodeId outer, NodeId inner, int64_t side)
      : editor_(editor), outer_(outer), inner_(inner), side_(side) {}

  /// Loads that lie along the outer loop in memory, of what the loops do not write.
  Result<void> findLoads() {
    std::set<uint32_t> stored;
    const BlockId body = editor_.bodyOf(inner_);
    for (const NodeId id : editor_.nodesOf(body)) {
      const Node& node = editor_.node(id);
      if (mayFail(editor_.kernel(), node))
        return refused("an iteration may fail, and the first one that does is reported");
      if (!isValueOp(node.op) && node.op != Op::Load && node.op != Op::Store)
        return refused("the body holds more than values, loads and stores");
      if (node.op == Op::Store) stored.insert(node.target);
    }
    const auto coefficient = [&](const Affine& index, NodeId loop) -> int64_t {
      const auto found = index.terms.find(editor_.varOf(loop));
      return found == index.terms.end() ? 0 : found->second;
    };
    for (const auto& [buffer, accesses] : accessesIn(editor_, body)) {
      const bool isWritten = std::any_of(stored.begin(), stored.end(), [&](uint32_t other) {
        return mayShareMemory(editor_.kernel(), other, buffer);
      });
      if (isWritten) continue;
      for (const Access& access : accesses)
        if (!access.indices.empty() && coefficient(access.indices.back(), outer_) == 1 &&
            coefficient(access.indices.back(), inner_) == 0)
          loads_.push_back(access.node);
    }
    if (loads_.empty()) return refused("nothing that is read lies along the outer loop");
    return success();
  }

  void run() {
    Nodes before;
    const NodeId rows = count(outer_, before);
    const NodeId columns = count(inner_, before);
    // Of a block that may be shorter at the ends, mostly all is there: then there is nothing to find out.
    const NodeId mostRows = editor_.number(rangeOf(editor_, rows).high.value_or(0));
    const NodeId mostColumns = editor_.number(rangeOf(editor_, columns).high.value_or(0));
    Nodes all;
    if (isWhole(mostRows) && isWhole(mostColumns) && !(isWhole(rows) && isWhole(columns))) {
      Nodes whole;
      writeBlock(mostRows, mostColumns, whole);
      Nodes part;
      writeBlock(rows, columns, part);
      std::optional<NodeId> condition;
      for (const auto& [extent, most] : {std::pair(rows, mostRows), std::pair(columns, mostColumns)}) {
        if (editor_.constantOf(extent)) continue;
        NodeId isAll = editor_.make({.op = Op::Eq, .type = DType::Bool}, {extent, most});
        before.push_back(isAll);
        if (condition) {
          isAll = editor_.make({.op = Op::And, .type = DType::Bool}, {*condition, isAll});
          before.push_back(isAll);
        }
        condition = isAll;
      }
      const BlockId then = editor_.newBlock(std::move(whole));
      const BlockId otherwise = editor_.newBlock(std::move(part));
      all.push_back(editor_.make({.op = Op::If, .body = then, .otherwise = otherwise}, {*condition}));
    } else {
      writeBlock(rows, columns, all);
    }
    before.insert(before.end(), all.begin(), all.end());
    editor_.insertBefore(outer_, before);
    editor_.remove(outer_);
    editor_.reindex();
  }

 private:
  /// Whether an extent is known, and squares fill it.
  bool isWhole(NodeId extent) const {
    const int64_t constant = editor_.constantOf(extent).value_or(0);
    return constant > 0 && constant % side_ == 0;
  }

  void writeBlock(NodeId allRows, NodeId allColumns, Nodes& out) {
    const NodeId side = editor_.number(side_);
    const NodeId rows = editor_.divide(out, Op::FloorDiv, allRows, side);
    const NodeId columns = editor_.divide(out, Op::FloorDiv, allColumns, side);
    const NodeId rowsDone = editor_.mul(out, rows, side);
    const NodeId columnsDone = editor_.mul(out, columns, side);
    const NodeId rowsLeft = editor_.sub(out, allRows, rowsDone);
    const NodeId columnsLeft = editor_.sub(out, allColumns, columnsDone);
    loop(LoopKind::Serial, rows, out, [&](NodeId rowBlock, Nodes& body) {
      const NodeId row = editor_.mul(body, rowBlock, side);
      loop(LoopKind::Serial, columns, body, [&](NodeId columnBlock, Nodes& inBlock) {
        writeSquare(row, editor_.mul(inBlock, columnBlock, side), inBlock);
      });
      // Rows of a square, without the columns: lanes along the rows.
      loop(LoopKind::Serial, columnsLeft, body, [&](NodeId c, Nodes& inColumn) {
        loop(LoopKind::Vectorized, side, inColumn,
             [&](NodeId r, Nodes& element) { writeElement(row, r, columnsDone, c, element); });
      });
    });
    // What is left of the rows, as it was; lanes along the columns.
    loop(LoopKind::Serial, rowsLeft, out, [&](NodeId r, Nodes& inRow) {
      loop(LoopKind::Vectorized, allColumns, inRow,
           [&](NodeId c, Nodes& element) { writeElement(rowsDone, r, editor_.number(0), c, element); });
    });
  }

  template <class Body>
  void loop(LoopKind kind, NodeId extent, Nodes& out, Body&& body) {
    out.push_back(editor_.makeLoop(extent, body));
    editor_.node(out.back()).loopKind = kind;
  }

  /// Iterations of a loop: none where its extent is negative.
  NodeId count(NodeId loop, Nodes& out) {
    const NodeId extent = editor_.extentOf(loop);
    const bool isNatural = rangeOf(editor_, extent).low >= 0;
    return isNatural ? extent : editor_.arithmetic(out, Op::Max, extent, editor_.number(0));
  }

  Copier copierAt(NodeId row, NodeId inRow, NodeId column, NodeId inColumn, Nodes& out) {
    Copier copier(editor_);
    copier.map(editor_.varOf(outer_), editor_.add(out, row, inRow));
    copier.map(editor_.varOf(inner_), editor_.add(out, column, inColumn));
    return copier;
  }

  void writeElement(NodeId row, NodeId inRow, NodeId column, NodeId inColumn, Nodes& out) {
    Copier copier = copierAt(row, inRow, column, inColumn, out);
    const Nodes statements = editor_.nodesOf(editor_.bodyOf(inner_));
    for (const NodeId id : statements) copier.copyStatement(id, out);
  }

  void writeSquare(NodeId row, NodeId column, Nodes& out) {
    const NodeId side = editor_.number(side_);
    std::map<NodeId, uint32_t> squares;
    for (const NodeId load : loads_) {
      const DType type = editor_.node(load).type;
      squares[load] = editor_.addLocal({type, {side_, side_}});
      out.push_back(editor_.make({.op = Op::Local, .type = type, .target = squares[load]}, {}));
    }
    const BlockId old = editor_.bodyOf(inner_);
    loop(LoopKind::Unrolled, side, out, [&](NodeId c, Nodes& inColumn) {
      loop(LoopKind::Vectorized, side, inColumn, [&](NodeId r, Nodes& body) {
        Copier copier = copierAt(row, r, column, c, body);
        for (const NodeId load : loads_) {
          const NodeId value = copier.copy(load, old, body);
          body.push_back(editor_.make(
              {.op = Op::SetLocal, .type = editor_.node(load).type, .target = squares[load]}, {c, r, value}));
        }
      });
    });
    loop(LoopKind::Unrolled, side, out, [&](NodeId r, Nodes& inRow) {
      loop(LoopKind::Vectorized, side, inRow, [&](NodeId c, Nodes& body) {
        Copier copier = copierAt(row, r, column, c, body);
        const Nodes statements = editor_.nodesOf(old);
        for (const NodeId id : statements) {
          const auto square = squares.find(id);
          if (square == squares.end()) {
            copier.copyStatement(id, body);
            continue;
          }
          body.push_back(editor_.make(
              {.op = Op::GetLocal, .type = editor_.node(id).type, .target = square->second}, {c, r}));
          copier.map(id, body.back());
        }
      });
    });
  }

  Editor& editor_;
  NodeId outer_;
  NodeId inner_;
  int64_t side_;
  Nodes loads_;
};

}  // namespace

Result<void> transpose(Editor& editor, const Primitive& primitive) {
  BATON_TRY_ASSIGN(const NodeId outer, serialLoop(editor, primitive.targets[0]));
  BATON_TRY_ASSIGN(const NodeId inner, serialLoop(editor, primitive.targets[1]));
  const int64_t side = primitive.numbers[0];
  constexpr int64_t kMostSide = 16;
  if (side < 2 || side > kMostSide || (side & (side - 1)) != 0)
    return refused(
        fmt::format("squares of {} x {}; expected a power of two from 2 to {}", side, side, kMostSide));
  BATON_TRY_ASSIGN(const Nodes nest, nestOf(editor, {outer, inner}));
  if (nest[0] != outer)
    return refused(fmt::format("loop {} is inside of loop {}", primitive.targets[0], primitive.targets[1]));
  BATON_TRY(checkIndependentIn(editor, outer, outer));
  BATON_TRY(checkIndependentIn(editor, inner, outer));
  Transposer transposer(editor, outer, inner, side);
  BATON_TRY(transposer.findLoads());
  transposer.run();
  return success();
}

}  // namespace baton::schedule

// A loop-IR builder that puts every value where it belongs: outside of all loops that it
// does not depend on, and once. On top of kernels/loop/builder.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dim.h"
#include "kernels/loop/builder.h"

namespace baton::ops {

/// Loops one in another that a schedule may rearrange.
struct LoopNest {
  struct Loop {
    std::string name;
    std::optional<int64_t> extent;  ///< where it is known
  };
  /// Of a nest over batches, panels of columns, and rows: each row sums products for all columns of a panel.
  struct Product {
    DType type;                                 ///< of the sums
    std::vector<std::string> columns;           ///< loops over a panel's columns: sums, and their results
    std::vector<std::optional<int64_t>> steps;  ///< extents of the loops of a sum
    bool isLeftScattered;  ///< from step to step, a row reads the first operand in other places of memory
  };
  std::vector<Loop> loops;         ///< the outermost first
  size_t sharedLoops = 0;          ///< so many of the first hold nothing that not all of them see
  double cost = 4;                 ///< operations of an iteration of the last loop, roughly
  bool isRowWise = false;          ///< a loop of the body runs along contiguous memory: no lanes around it
  std::optional<Product> product;  ///< nothing: each iteration is about elements of its own
};

class Emitter {
 public:
  /// `symbols[i]` is the program's symbol that the descriptor's symbol i stands for.
  Emitter(KernelDescriptor descriptor, std::vector<DimSymbol> symbols);
  Emitter(const Emitter&) = delete;
  Emitter& operator=(const Emitter&) = delete;

  loop::Builder& builder() { return builder_; }

  loop::Value number(int64_t value) { return builder_.i64(value); }
  std::optional<int64_t> constantOf(loop::Value value) const;
  /// An expression over the program's symbols, computed before all loops. One that the kernel
  /// cannot compute gives rubbish, and `hasFailed`.
  loop::Value dim(const DimExpr& expr);
  bool hasFailed() const { return hasFailed_; }
  bool isLoopVariable(loop::Value value) const;
  /// In terms of the descriptor's symbols.
  DimExpr toKernelSymbols(const DimExpr& expr) const;

  // Index arithmetic: folded, computed once, outside of loops that do not matter.
  loop::Value add(loop::Value a, loop::Value b);
  loop::Value sub(loop::Value a, loop::Value b);
  loop::Value mul(loop::Value a, loop::Value b);
  loop::Value floorDiv(loop::Value a, loop::Value b);  ///< divisor > 0
  loop::Value floorMod(loop::Value a, loop::Value b);  ///< divisor > 0
  /// Of numbers from 0 on: the product, or the greatest number where it is greater.
  loop::Value mulAtMost(loop::Value a, loop::Value b);
  loop::Value min(loop::Value a, loop::Value b);
  loop::Value max(loop::Value a, loop::Value b);

  // Loops, as in the builder.
  loop::Value beginLoop(loop::LoopKind kind, loop::Value extent, uint64_t grain = 1);
  void end() { builder_.end(); }
  /// Gives the innermost open loop a name that no other has, which begins like that.
  std::string nameLoop(std::string_view prefix);
  void noteNest(LoopNest nest) { nests_.push_back(std::move(nest)); }
  /// Those that have been ended and noted.
  const std::vector<LoopNest>& nests() const { return nests_; }
  void beginIf(loop::Value condition);
  void beginElse();
  /// Nested loops run no iterations at all, not even of the outer ones, when one of the inner
  /// counts is 0: other extents of a tensor without elements may be as large as they like.
  void skipWhenEmpty(std::vector<loop::Value>& counts);
  std::vector<loop::Value> beginReduce(loop::ReduceOp op, std::span<const loop::Value> extents);
  loop::Value endReduce(loop::Value reduced) { return builder_.endReduce(reduced); }
  template <class Body>
  void loop(loop::LoopKind kind, loop::Value extent, Body&& body, uint64_t grain = 1) {
    const loop::Value var = beginLoop(kind, extent, grain);
    body(var);
    end();
  }

  /// Depth of the innermost block that one of the values was made in.
  size_t deepest(std::span<const loop::Value> values) const;
  /// The same for what must not leave the branch of an `if` that the cursor is in: loads, and
  /// what may fail.
  size_t guarded(std::span<const loop::Value> values) const;
  /// Runs `make` with the cursor at that depth.
  template <class Make>
  auto at(size_t depth, Make&& make) {
    const size_t saved = builder_.depth();
    builder_.moveTo(depth);
    auto result = make();
    builder_.moveTo(saved);
    return result;
  }

  // What is known in the open blocks, by any key that begins with a kind of its user's.
  using Key = std::vector<uint32_t>;
  /// In the blocks around the cursor, down to that depth.
  std::optional<loop::Value> find(size_t depth, const Key& key) const;
  void remember(size_t depth, Key key, loop::Value value);
  static constexpr uint32_t kElementKey = 1000;  ///< and above: for users

  /// Which of the registered loop variables values depend on, as bits. At most 63.
  void watch(std::span<const loop::Value> loopVars);
  uint64_t dependencies(std::span<const loop::Value> values);
  /// In what `dependencies` gives: on a loop variable that is not registered.
  static constexpr uint64_t kOtherLoop = uint64_t{1} << 63;

 private:
  loop::Value arithmetic(loop::Op op, loop::Value a, loop::Value b);
  void openedBlock(bool isBranch);

  loop::Builder builder_;
  std::vector<DimSymbol> symbols_;
  std::vector<std::map<Key, loop::Value>> known_;  // by depth
  std::vector<bool> isBranch_;                     // by depth
  std::map<uint32_t, uint64_t> watched_;           // LoopVar node to bit
  std::map<uint32_t, uint64_t> dependencies_;
  std::map<DimExpr, loop::Value> dims_;
  std::vector<LoopNest> nests_;
  uint32_t namedLoops_ = 0;
  bool hasFailed_ = false;
};

}  // namespace baton::ops

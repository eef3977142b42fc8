// The loops of a matrix product: panels of columns, rows, and the reduced index in sequence for every
// element. The default schedule makes register tiles of them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "compiler/ops/lowering/lowering.h"

namespace baton::ops {

/// Columns of a panel, also of packed weights.
inline constexpr int64_t kPanelColumns = 64;

/// Where an element of the second operand stands.
struct PanelPosition {
  std::span<const loop::Value> batch;
  std::span<const loop::Value> inner;
  loop::Value panel;    ///< n / kPanelColumns
  loop::Value inPanel;  ///< n % kPanelColumns
  loop::Value column;   ///< n
};

enum class RightLayout : uint8_t {
  Rows,     ///< contiguous along columns
  Strided,  ///< not so: it is packed first, but for few rows
  Padded,   ///< contiguous, and may be read beyond the last column up to the end of the panel
};

struct ProductSpec {
  std::vector<DimExpr> batch;               ///< axes that both operands and the result have, in this order
  std::optional<size_t> batchOfRight = {};  ///< so many of the first have to do with `right`; nothing: all
  DimExpr rows;
  DimExpr columns;
  std::vector<DimExpr> inner;  ///< axes of the reduced index, which is taken in row-major order
  std::function<Result<loop::Value>(std::span<const loop::Value> batch, loop::Value row,
                                    std::span<const loop::Value> inner)>
      left;
  std::function<Result<loop::Value>(const PanelPosition&)> right;
  RightLayout layout = RightLayout::Rows;
  /// Elements of `left` that a row reads one after the other are far from each other.
  bool isLeftScattered = false;
  /// Index of the result.
  std::function<std::vector<loop::Value>(std::span<const loop::Value> batch, loop::Value row,
                                         loop::Value column)>
      index;
};

/// A number of a row as an index over several axes.
std::vector<loop::Value> splitRow(Emitter& emitter, std::span<const DimExpr> extents, loop::Value row);

/// Hands every element to the context's sink, in a nest of its own.
Result<void> writeProduct(NestContext& context, ProductSpec spec);

}  // namespace baton::ops

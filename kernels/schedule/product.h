// Sums of products as loops, which register tiles are made of. Private to kernels/schedule.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "kernels/schedule/editor.h"
#include "kernels/schedule/schedule.h"

namespace baton::schedule {

/// A loop of those that a sum takes, one in another, with what it holds beside the next one.
struct Step {
  NodeId loop{};
  Nodes statements;
};

/// for row { values; local sums; for step { ... for step { values; for column { sums[column] = ... } } }
///           for result { ... sums[result] ... } }
struct Product {
  NodeId rows{};
  std::vector<Step> steps;
  NodeId columns{};
  NodeId results{};
  uint32_t sums = 0;
  Nodes inRow;  ///< the other statements of a row
};

/// An error that says why a loop is none over rows of sums, or why these may not be made several at a time.
Result<Product> productOf(const Editor& editor, const Primitive& primitive);

/// How many rows there may be; nothing: any number. Of a loop that was split, that of whole and of last
/// parts.
std::optional<std::set<int64_t>> rowCounts(const Editor& editor, NodeId extent);

/// Whether a node reads or writes a local.
inline bool usesLocal(const Node& node, uint32_t local) {
  return (node.op == Op::GetLocal || node.op == Op::SetLocal) && node.target == local;
}

}  // namespace baton::schedule

// Axes named by letters, as "NCHW16c": a capital letter is an axis, a small one the place in blocks of
// the axis of that name, which then counts the blocks.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/ir/op.h"

namespace baton::ops {

/// An axis of a layout: a whole one, or the place in blocks of another.
struct LayoutAxis {
  char name = 'A';    ///< a capital letter
  int64_t block = 0;  ///< extent of the blocks that this is the place in; 0: the axis itself
};
using Layout = std::vector<LayoutAxis>;

inline bool isSame(const LayoutAxis& a, const LayoutAxis& b) {
  return a.name == b.name && (a.block == 0) == (b.block == 0);
}

/// The text of an attribute.
Result<Layout> readLayout(const OpCall& call, std::string_view attr);
/// The letters of the whole axes, sorted.
std::string lettersOf(const Layout& layout);
/// Extent of the blocks of an axis, 1 where it has none.
int64_t blockOf(const Layout& layout, char name);
/// Which axis it is, or how many there are.
size_t placeIn(const Layout& layout, const LayoutAxis& wanted);
/// The whole extent of an axis of a tensor.
DimExpr wholeExtent(const Layout& layout, std::span<const DimExpr> dims, char name);

}  // namespace baton::ops

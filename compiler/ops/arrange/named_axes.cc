#include "compiler/ops/arrange/named_axes.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/relations.h"

namespace baton::ops {

Result<Layout> readLayout(const OpCall& call, std::string_view attr) {
  const std::string& text = call.attrs->stringOf(attr);
  const auto wrong = [&](std::string_view what) {
    return opError(call, fmt::format("{} is \"{}\": {}", attr, text, what));
  };
  Layout layout;
  int64_t number = 0;
  bool hasNumber = false;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + (c - '0');
      hasNumber = true;
      if (number > INT32_MAX) return wrong(fmt::format("blocks have extent {} at most", INT32_MAX));
      continue;
    }
    const bool isPlace = c >= 'a' && c <= 'z';
    if (!isPlace && (c < 'A' || c > 'Z')) return wrong("expected letters, and numbers before small ones");
    if (hasNumber && number == 0) return wrong("blocks have extent 1 or more");
    if (isPlace != hasNumber) return wrong("a small letter, and no other, follows the extent of its blocks");
    const LayoutAxis axis{static_cast<char>(isPlace ? c - 'a' + 'A' : c), number};
    if (std::ranges::any_of(layout, [&](const LayoutAxis& other) { return isSame(axis, other); }))
      return wrong(fmt::format("{} stands there twice", c));
    layout.push_back(axis);
    number = 0;
    hasNumber = false;
  }
  if (hasNumber) return wrong("a number stands at the end");
  for (const LayoutAxis& axis : layout)
    if (std::ranges::none_of(
            layout, [&](const LayoutAxis& whole) { return whole.block == 0 && whole.name == axis.name; }))
      return wrong(fmt::format("there are places in blocks of {}, which is no axis", axis.name));
  return layout;
}

std::string lettersOf(const Layout& layout) {
  std::string out;
  for (const LayoutAxis& axis : layout)
    if (axis.block == 0) out += axis.name;
  std::ranges::sort(out);
  return out;
}

int64_t blockOf(const Layout& layout, char name) {
  for (const LayoutAxis& axis : layout)
    if (axis.name == name && axis.block != 0) return axis.block;
  return 1;
}

size_t placeIn(const Layout& layout, const LayoutAxis& wanted) {
  const auto at = std::ranges::find_if(layout, [&](const LayoutAxis& axis) { return isSame(axis, wanted); });
  return static_cast<size_t>(at - layout.begin());
}

DimExpr wholeExtent(const Layout& layout, std::span<const DimExpr> dims, char name) {
  return dims[placeIn(layout, {name, 0})] * DimExpr::constant(blockOf(layout, name));
}

}  // namespace baton::ops

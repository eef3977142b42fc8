#include "compiler/ops/image/spatial_axes.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/limits.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<LayoutAxes> layoutAxes(const OpCall& call, std::string_view letters) {
  const std::string& layout = call.attrs->stringOf("layout");
  const auto refused = [&] {
    return opError(call, fmt::format("layout is \"{}\"; expected one with the axes {}", layout,
                                     fmt::join(letters, ", ")));
  };
  std::string axes;
  for (const char c : layout) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalpha(letter) != 0)
      axes += c;
    else if (std::isdigit(letter) == 0)
      return refused();
  }
  if (axes.size() > static_cast<size_t>(kMaxRank)) return refused();
  LayoutAxes out{{}, static_cast<int>(axes.size())};
  for (const char letter : letters) {
    const auto block = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (std::ranges::count(axes, letter) != 1 || axes.find(block) != std::string::npos) return refused();
    out.axes.push_back(axes.find(letter));
  }
  return out;
}

Result<void> requireElements(const OpCall& call, DimsContext& context, size_t input, size_t axis,
                             const DimExpr& wanted) {
  const DimExpr extent = context.dims(input)[axis];
  context.blame(input);
  return context.require(
      extent, Relation::Ge,
      context.decide(wanted, Relation::Ge, one()) == Truth::True ? one() : min(wanted, one()),
      fmt::format("{}: dimension {} of the data has no elements", call.op->name, axis));
}

Error unknownValue(const OpCall& call, std::string_view attribute, std::string_view expected) {
  return opError(
      call, fmt::format("{} is \"{}\"; expected {}", attribute, call.attrs->stringOf(attribute), expected));
}

}  // namespace baton::ops

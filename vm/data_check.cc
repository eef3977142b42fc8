#include "vm/data_check.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace baton::vm {

std::optional<std::string> findWrongExtent(const TypeInfo& field, std::span<const int64_t> extents) {
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (field.extents[axis] >= 0 && field.extents[axis] != extents[axis])
      return fmt::format("dimension {} is {}, expected {}", axis, extents[axis], field.extents[axis]);
    // A symbol is one extent within its field.
    const std::optional<DimSymbol> symbol = field.dims[axis].asSymbol();
    for (size_t earlier = 0; symbol && earlier < axis; ++earlier)
      if (field.dims[earlier].asSymbol() == symbol && extents[earlier] != extents[axis])
        return fmt::format("dimension {} is {}, but dimension {}, which is the same extent, is {}", axis,
                           extents[axis], earlier, extents[earlier]);
  }
  return std::nullopt;
}

std::optional<std::string> findWrongExtent(const TypeInfo& type, Object* object) {
  if (!type.isData()) return std::nullopt;
  std::vector<std::pair<const TypeInfo*, Object*>> pending{{&type, object}};
  std::unordered_set<const Object*> seen;  // of what several references lead to
  while (!pending.empty()) {
    const auto [current, value] = pending.back();
    pending.pop_back();
    const Count count = value->count.load(std::memory_order_relaxed);
    if (count != kSharedCount + 1 && !seen.insert(value).second) continue;
    const bytecode::Constructor& constructor = current->definition->constructors[value->tag];
    const std::vector<TypeInfo>& fields = (*current->fields)[value->tag];
    // In reverse, so that the first field is looked at first.
    for (size_t i = fields.size(); i-- > 0;) {
      if (fields[i].kind != TypeKind::Tensor && !fields[i].isData()) continue;
      Object* field = value->slots()[constructor.fields[i].slot];
      if (fields[i].isData()) {
        pending.push_back({&fields[i], field});
        continue;
      }
      if (std::optional<std::string> problem = findWrongExtent(fields[i], asTensor(field)->shape()))
        return fmt::format("field {} of {}: {}", i, constructor.name.empty() ? "a tuple" : constructor.name,
                           *problem);
    }
  }
  return std::nullopt;
}

}  // namespace baton::vm

#include "vm/data_check.h"

#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/functional/hash.hpp>

namespace baton::vm {

namespace {

/// Where in a value something stands.
struct FieldPlace {
  const TypeInfo* holder;
  const bytecode::Constructor* constructor;
  size_t field;  ///< of an array: the element
  int64_t item;  ///< of the innermost list; -1 outside of lists
};

/// Calls `f(field type, place, tensor)` for the tensors in a value, in order, until it says true.
template <class F>
bool forEachTensor(const TypeInfo& root, Object* object, F&& f) {
  struct Step {
    const TypeInfo* type;
    Object* object;
    FieldPlace place;
  };
  using Seen = std::pair<const FieldTypes*, const Object*>;
  std::vector<Step> pending{{&root, object, {nullptr, nullptr, 0, -1}}};
  std::unordered_set<Seen, boost::hash<Seen>> seen;  // of what several references lead to
  while (!pending.empty()) {
    const Step step = pending.back();
    pending.pop_back();
    if (step.type->kind == TypeKind::Tensor) {
      if (f(*step.type, step.place, step.object)) return true;
      continue;
    }
    const Count count = step.object->count.load(std::memory_order_relaxed);
    if (count != kSharedCount + 1 && !seen.insert({step.type->fields, step.object}).second) continue;
    if (step.type->isArray()) {
      const TypeInfo& element = step.type->element();
      if (element.kind != TypeKind::Tensor && !element.hasParts()) continue;
      const std::span<Object*> elements = step.object->slotSpan();
      for (size_t i = elements.size(); i-- > 0;)
        pending.push_back({&element, elements[i], {step.type, nullptr, i, step.place.item}});
      continue;
    }
    const bytecode::Constructor& constructor = step.type->definition->constructors[step.object->tag];
    const std::vector<TypeInfo>& fields = (*step.type->fields)[step.object->tag];
    const int64_t item = step.type->isList() && step.place.item < 0 ? 0 : step.place.item;
    // In reverse, so that the first field is looked at first.
    for (size_t i = fields.size(); i-- > 0;) {
      if (fields[i].kind != TypeKind::Tensor && !fields[i].hasParts()) continue;
      const bool isTail = step.type->isList() && fields[i].definition == step.type->definition;
      const bool isNested = fields[i].isList() && !isTail;
      const int64_t itemOfField = isTail ? item + 1 : isNested ? -1 : item;
      pending.push_back({&fields[i],
                         step.object->slots()[constructor.fields[i].slot],
                         {step.type, &constructor, i, itemOfField}});
    }
  }
  return false;
}

std::string placeText(const FieldPlace& place) {
  if (place.holder->isList()) return fmt::format("item {}", place.item);
  const std::string part = place.holder->isArray() ? fmt::format("element {}", place.field)
                                                   : fieldText(*place.constructor, place.field);
  return place.item < 0 ? part : fmt::format("item {}, {}", place.item, part);
}

}  // namespace

std::string fieldText(const bytecode::Constructor& constructor, size_t field) {
  return constructor.name.empty() ? fmt::format("field {}", field)
                                  : fmt::format("field {} of {}", field, constructor.name);
}

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
  std::optional<std::string> problem;
  if (!type.hasParts()) return problem;
  forEachTensor(type, object, [&](const TypeInfo& field, const FieldPlace& place, Object* tensor) {
    problem = findWrongExtent(field, asTensor(tensor)->shape());
    if (problem) problem = placeText(place) + ": " + *problem;
    return problem.has_value();
  });
  return problem;
}

std::optional<WrongExtent> findWrongExtent(const TypeInfo& type, Object* object, const ExtentTest& test) {
  std::optional<WrongExtent> wrong;
  if (!type.hasParts()) return wrong;
  forEachTensor(type, object, [&](const TypeInfo& field, const FieldPlace& place, Object* tensor) {
    const std::span<const int64_t> extents = asTensor(tensor)->shape();
    for (size_t axis = 0; axis < extents.size() && !wrong; ++axis)
      if (field.extents[axis] < 0 && !test(field.dims[axis], extents[axis]))
        wrong = WrongExtent{&field, placeText(place), axis, extents[axis]};
    return wrong.has_value();
  });
  return wrong;
}

}  // namespace baton::vm

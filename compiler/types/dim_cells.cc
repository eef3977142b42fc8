#include "compiler/types/dim_cells.h"

namespace baton::types {

using ir::TypeRef;

TypeRef DimCells::partType(TypeRef type, size_t index) const {
  return index < type->elements().size() ? type->elements()[index] : type->result();
}

std::vector<DimCells::Part>& DimCells::partsOf(TypeRef type) {
  TypeRef key = types_.erased(type);
  auto [entry, isNew] = entries_.try_emplace(key);
  if (isNew) {
    size_t count = key->elements().size() + (key->isFunction() ? 1 : 0);
    for (size_t i = 0; i < count; ++i) {
      size_t positions = positionsOf(partType(key, i)).size();
      entry->second.push_back({false, std::vector<DimExpr>(positions, noDim()), {}});
      entry->second.back().pins.resize(positions);
    }
  }
  return entry->second;
}

bool DimCells::arrive(TypeRef type, size_t index, TypeRef value) {
  Part& part = partsOf(type)[index];
  bool changed = !part.isReached;
  part.isReached = true;
  std::vector<Position> positions = positionsOf(value);
  BATON_CHECK(positions.size() == part.dims.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    const DimExpr& dim = positions[i].dim;
    if (isNoDim(dim) || part.dims[i] == dim) continue;
    DimExpr joined = isNoDim(part.dims[i]) && dim.isConstant() ? dim : anyDim();
    if (part.dims[i] == joined) continue;
    part.dims[i] = joined;
    changed = true;
  }
  return changed;
}

bool DimCells::pin(TypeRef type, size_t index, TypeRef declared) {
  Part& part = partsOf(type)[index];
  std::vector<Position> positions = positionsOf(declared);
  bool changed = false;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!positions[i].isPlain || !positions[i].dim.isConstant()) continue;
    std::optional<DimExpr>& pin = part.pins[i];
    if (pin == positions[i].dim || (pin && isAnyDim(*pin))) continue;
    pin = pin ? anyDim() : positions[i].dim;
    changed = true;
  }
  return changed;
}

std::optional<TypeRef> DimCells::typeOf(TypeRef type, size_t index) {
  Part& part = partsOf(type)[index];
  if (!part.isReached) return std::nullopt;
  std::vector<DimExpr> dims = part.dims;
  for (size_t i = 0; i < dims.size(); ++i)
    if (part.pins[i] && !isAnyDim(*part.pins[i])) dims[i] = *part.pins[i];
  return filledIn(withDims(types_, partType(type, index), dims));
}

std::vector<std::optional<DimExpr>> DimCells::pinsOf(TypeRef type, size_t index) {
  std::vector<std::optional<DimExpr>> pins = partsOf(type)[index].pins;
  for (std::optional<DimExpr>& pin : pins)
    if (pin && isAnyDim(*pin)) pin.reset();
  return pins;
}

TypeRef DimCells::filledIn(TypeRef type) {
  if (!type->holdsFunctionOrCell()) return type;
  auto same = [](TypeRef leaf) { return leaf; };
  return types_.rewrite(type, same, [&](TypeRef node) -> TypeRef {
    if (!node->isFunction() && !node->isRef()) return node;
    std::vector<Part>& parts = partsOf(node);
    std::vector<TypeRef> types;
    for (size_t i = 0; i < parts.size(); ++i) {
      std::vector<DimExpr> dims;
      for (const DimExpr& dim : parts[i].dims) dims.push_back(isNoDim(dim) ? anyDim() : dim);
      types.push_back(withDims(types_, partType(node, i), dims));
    }
    if (node->isRef()) return types_.ref(types[0]);
    TypeRef result = types.back();
    types.pop_back();
    return types_.function(std::move(types), result);
  });
}

}  // namespace baton::types

#include "compiler/types/dim_types.h"

#include <fmt/format.h>

#include "base/error.h"

namespace baton::types {

using ir::TypeKind;
using ir::TypeRef;

std::vector<Position> positionsOf(TypeRef root) {
  std::vector<Position> positions;
  std::vector<std::pair<TypeRef, bool>> stack{{root, true}};
  while (!stack.empty()) {
    auto [type, isPlain] = stack.back();
    stack.pop_back();
    if (!type->hasDims()) continue;
    if (type->isTensor()) {
      for (const DimExpr& dim : type->dims()) positions.push_back({dim, isPlain});
    } else if (type->isAggregate()) {
      for (size_t i = type->elements().size(); i-- > 0;)
        stack.emplace_back(type->elements()[i], isPlain && type->isTuple());
    }
  }
  return positions;
}

std::string positionText(TypeRef type, size_t position) {
  std::string field;
  while (type->isTuple()) {
    size_t i = 0;
    for (;; ++i) {
      BATON_CHECK(i < type->elements().size());
      const size_t count = positionsOf(type->elements()[i]).size();
      if (position < count) break;
      position -= count;
    }
    field += fmt::format("{}{}", field.empty() ? "" : ".", i);
    type = type->elements()[i];
  }
  return field.empty() ? fmt::format("dimension {}", position)
                       : fmt::format("dimension {} of field {}", position, field);
}

TypeRef withDims(ir::TypeTable& types, TypeRef root, std::span<const DimExpr> dims) {
  // Parts are not shared: equal parts may get different dims.
  struct Frame {
    TypeRef type;
    std::vector<TypeRef> done;
  };
  size_t next = 0;
  std::vector<Frame> stack{{root, {}}};
  for (;;) {
    Frame& frame = stack.back();
    TypeRef type = frame.type;
    bool isOpen = type->hasDims() && type->isAggregate();
    if (isOpen && frame.done.size() < type->elements().size()) {
      TypeRef child = type->elements()[frame.done.size()];
      stack.push_back({child, {}});
      continue;
    }
    TypeRef result = type;
    if (!type->hasDims()) {
      // It is what it was.
    } else if (type->isTensor()) {
      BATON_CHECK(next + type->dims().size() <= dims.size());
      std::span<const DimExpr> own = dims.subspan(next, type->dims().size());
      next += own.size();
      result = types.tensor(type->dtype(), std::vector<DimExpr>(own.begin(), own.end()));
    } else if (type->isTuple()) {
      result = types.tuple(std::move(frame.done));
    } else if (type->isAdt()) {
      result = types.adt(type->definition(), std::move(frame.done));
    } else if (type->isArray()) {
      result = types.array(frame.done[0]);
    }
    stack.pop_back();
    if (stack.empty()) return result;
    stack.back().done.push_back(result);
  }
}

TypeRef withNoDims(ir::TypeTable& types, TypeRef type) {
  std::vector<DimExpr> dims(positionsOf(type).size(), noDim());
  return withDims(types, type, dims);
}

TypeRef joinData(ir::TypeTable& types, TypeRef a, TypeRef b) {
  if (a == b) return a;
  std::vector<Position> left = positionsOf(a);
  std::vector<Position> right = positionsOf(b);
  BATON_CHECK(left.size() == right.size());
  std::vector<DimExpr> dims;
  for (size_t i = 0; i < left.size(); ++i) {
    const DimExpr& x = left[i].dim;
    const DimExpr& y = right[i].dim;
    dims.push_back(x == y || isNoDim(y) ? x : isNoDim(x) ? y : anyDim());
  }
  return withDims(types, a, dims);
}

std::vector<DimExpr> declaredDims(TypeRef declared, TypeRef shape) {
  std::vector<DimExpr> dims;
  std::vector<std::pair<TypeRef, TypeRef>> stack{{declared, shape}};
  while (!stack.empty()) {
    auto [written, actual] = stack.back();
    stack.pop_back();
    if (!actual->hasDims()) continue;
    bool says = written != nullptr && written->kind() == actual->kind();
    if (actual->isTensor()) {
      for (size_t i = 0; i < actual->dims().size(); ++i) dims.push_back(says ? written->dims()[i] : anyDim());
    } else if (actual->isAggregate()) {
      for (size_t i = actual->elements().size(); i-- > 0;)
        stack.emplace_back(says ? written->elements()[i] : nullptr, actual->elements()[i]);
    }
  }
  return dims;
}

}  // namespace baton::types

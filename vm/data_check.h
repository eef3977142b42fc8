// Extents inside data: a field of type Tensor[(?, 4), float32] must hold tensors with four
// columns, however deep in a value it lies.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "vm/object.h"
#include "vm/type_info.h"

namespace baton::vm {

/// An extent that is not what its field says.
struct WrongExtent {
  const TypeInfo* field = nullptr;
  std::string place;  ///< "item 2", "element 1", "field 0 of Cons"
  size_t axis = 0;
  int64_t found = 0;
};

/// Whether an extent of a field, which is not a number, is what was found.
using ExtentTest = std::function<bool(const DimExpr& dim, int64_t found)>;

/// Walks a value of this type, without recursion, and finds the first extent that the test refuses.
std::optional<WrongExtent> findWrongExtent(const TypeInfo& type, Object* object, const ExtentTest& test);

/// Walks a value of this type, without recursion, and describes the first tensor whose extents are
/// not what its field says: "field 1 of Cons: dimension 1 is 3, expected 4".
std::optional<std::string> findWrongExtent(const TypeInfo& type, Object* object);

/// The same for one tensor in one field.
std::optional<std::string> findWrongExtent(const TypeInfo& field, std::span<const int64_t> extents);

/// "field 1" of a tuple, "field 1 of Cons".
std::string fieldText(const bytecode::Constructor& constructor, size_t field);

}  // namespace baton::vm

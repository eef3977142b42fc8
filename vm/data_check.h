// Extents inside data: a field of type Tensor[(?, 4), float32] must hold tensors with four
// columns, however deep in a value it lies.
#pragma once

#include <optional>
#include <string>

#include "vm/object.h"
#include "vm/type_info.h"

namespace baton::vm {

/// Walks a value of this type, without recursion, and describes the first tensor whose extents are
/// not what its field says: "field 1 of Cons: dimension 1 is 3, expected 4".
std::optional<std::string> findWrongExtent(const TypeInfo& type, Object* object);

/// The same for one tensor in one field.
std::optional<std::string> findWrongExtent(const TypeInfo& field, std::span<const int64_t> extents);

}  // namespace baton::vm

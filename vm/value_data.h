// Making, taking apart and comparing values outside of contexts. Nothing recurses: lists of
// ten million cells are ordinary values.
#pragma once

#include <functional>
#include <span>

#include "base/error.h"
#include "formats/text_value.h"
#include "vm/value.h"

namespace baton::vm {

/// Copies the elements. InvalidArgument when they are not what dtype and extents say. Rank 0 gives a
/// scalar.
Result<Ref<Value>> makeTensor(Instance& instance, DType dtype, std::span<const int64_t> extents,
                              std::span<const std::byte> elements);
/// Memory of somebody else, who is told when it is not used any more; rank >= 1, dense.
Result<Ref<Value>> adoptTensor(Instance& instance, DType dtype, std::span<const int64_t> extents, void* data,
                               void (*release)(void*), void* context);
/// A tuple or a value of a data type, from its fields as declared.
Result<Ref<Value>> makeData(Instance& instance, const TypeInfo& type, size_t constructor,
                            std::span<Value* const> fields);
/// A value of a type whose isList() holds.
Result<Ref<Value>> makeList(Instance& instance, const TypeInfo& type, std::span<Value* const> items);

/// A value of a type that is an array.
Result<Ref<Value>> makeArray(Instance& instance, const TypeInfo& type, std::span<Value* const> elements);

/// How a list is built; `head` is the field of Cons that holds the item.
struct ListShape {
  size_t nil;
  size_t cons;
  size_t head;
};
/// InvalidArgument when the type is no list.
Result<ListShape> listShape(const TypeInfo& type);

/// A field of data, as declared; shares its memory.
Ref<Value> fieldOf(const Value& value, size_t field);
/// The same for an element of an array, which has one of this number.
Ref<Value> elementOf(const Value& value, size_t index);
/// Same structure, dtypes, extents and bits; all NaNs are equal. Closures are equal when they are one.
bool isEqual(const Value& a, const Value& b);

/// What value text describes, as a value of `type`; without a type, tensors and scalars only.
Result<Ref<Value>> fromText(Instance& instance, const TypeInfo* type, const TextValue& text);
/// Unsupported for closures.
Result<TextValue> toText(const Value& value);

}  // namespace baton::vm

#include "vm/value_data.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include <fmt/format.h>
#include <boost/functional/hash.hpp>

#include "base/checked_math.h"
#include "vm/data_check.h"
#include "vm/tensor_text.h"

namespace baton::vm {

namespace {

/// What is wrong with a value as a field of this type, if anything.
std::optional<std::string> findMismatch(const TypeInfo& field, const Value& value) {
  const auto found = [&] {
    return value.isTensorLike()
               ? fmt::format("{} of shape {}", dtypeName(value.dtype()), shapeText(value.extents()))
               : value.type()->text;
  };
  const bool fits = value.isTensorLike() ? value.kind() == field.kind && value.dtype() == field.dtype &&
                                               value.extents().size() == field.rank()
                                         : isSameStructure(*value.type(), field);
  if (!fits) return fmt::format("found {}, expected {}", found(), field.text);
  if (value.kind() == TypeKind::Tensor) return findWrongExtent(field, value.extents());
  if (value.kind() == TypeKind::Scalar) return std::nullopt;
  if (value.isChecked() && impliesExtents(*value.type(), field)) return std::nullopt;
  return findWrongExtent(field, value.object());
}

/// An object of a constructor; `setField(object)` fills slots and scalars and cannot fail.
template <class F>
Result<Object*> makeObject(Instance& instance, const bytecode::Constructor& constructor, size_t tag,
                           F&& setFields) {
  if (constructor.fields.empty() && tag < kNullaryCount) return nullaryAdt(static_cast<uint32_t>(tag));
  return instance.values().make([&](Heap& heap) {
    Object* object = heap.allocateRecord(ObjectKind::Adt, static_cast<uint32_t>(tag),
                                         constructor.referenceCount, constructor.scalarCount);
    if (object) setFields(object);
    return object;
  });
}

void setField(Object* object, const bytecode::Field& field, const Value& value) {
  if (field.isScalar) {
    object->scalars()[field.slot] = value.bits();
  } else {
    retain(value.object());
    object->slots()[field.slot] = value.object();
  }
}

/// A part of data or of an array: a scalar, or an object.
Ref<Value> partOf(const Value& whole, const TypeInfo& type, uint64_t bits, Object* object) {
  if (type.kind == TypeKind::Scalar) return Value::scalar(type.dtype, bits);
  retain(object);
  return type.kind == TypeKind::Tensor ? Value::tensor(object) : Value::data(type, object, whole.isChecked());
}

bool isSameElements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !std::ranges::equal(a.shape(), b.shape())) return false;
  const uint64_t bytes = a.sizeBytes();
  if (std::memcmp(a.data, b.data, bytes) == 0) return true;
  if (!isFloat(a.dtype())) return false;
  const auto width = static_cast<uint64_t>(sizeBytes(a.dtype()));
  const auto isNan = [&](uint64_t bits) {
    const double value = scalarFromBits<double>(convertScalar(bits, a.dtype(), DType::F64));
    return value != value;
  };
  for (uint64_t offset = 0; offset < bytes; offset += width) {
    const uint64_t x = loadScalar(a.data + offset, a.dtype());
    const uint64_t y = loadScalar(b.data + offset, b.dtype());
    if (x != y && !(isNan(x) && isNan(y))) return false;
  }
  return true;
}

bool isSameScalar(DType dtype, uint64_t a, uint64_t b) {
  if (a == b) return true;
  if (!isFloat(dtype)) return false;
  const double x = scalarFromBits<double>(convertScalar(a, dtype, DType::F64));
  const double y = scalarFromBits<double>(convertScalar(b, dtype, DType::F64));
  return x != x && y != y;
}

}  // namespace

Result<Ref<Value>> makeTensor(Instance& instance, DType dtype, std::span<const int64_t> extents,
                              std::span<const std::byte> elements) {
  const std::optional<int64_t> count = checkedElementCount(extents);
  const std::optional<int64_t> bytes = count ? checkedMul<int64_t>(*count, sizeBytes(dtype)) : std::nullopt;
  if (!bytes || extents.size() > 32)
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("a tensor cannot have the shape {}", shapeText(extents)));
  if (static_cast<uint64_t>(*bytes) != elements.size())
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("found {} bytes, expected {} for shape {} of {}", elements.size(), *bytes,
                             shapeText(extents), dtypeName(dtype)));
  if (extents.empty()) return Value::scalar(dtype, loadScalar(elements.data(), dtype));
  BATON_TRY_ASSIGN(Object* const object, instance.values().make([&](Heap& heap) -> Object* {
    return heap.allocateTensor(dtype, 0, extents, elements.size());
  }));
  if (!elements.empty()) std::memcpy(asTensor(object)->data, elements.data(), elements.size());
  if (dtype == DType::Bool)  // any other byte would be neither true nor false
    for (std::byte& element : std::span(asTensor(object)->data, elements.size()))
      if (element != std::byte{0}) element = std::byte{1};
  return Value::tensor(object);
}

Result<Ref<Value>> adoptTensor(Instance& instance, DType dtype, std::span<const int64_t> extents, void* data,
                               void (*release)(void*), void* context) {
  const auto rank = static_cast<uint32_t>(extents.size());
  // First, so that nothing can fail once the memory is ours.
  Ref<Value> value = Value::reserve();
  BATON_TRY_ASSIGN(Object* const object, instance.values().make([&](Heap& heap) -> Object* {
    auto* bytes = static_cast<std::byte*>(data);
    // Nothing can fail once the storage knows whom to tell: on failure the memory stays the caller's.
    Storage* storage = heap.adoptStorage(bytes, 0, nullptr, nullptr);
    if (!storage) return nullptr;
    Tensor* tensor = heap.allocateView(dtype, 0, rank, TensorTag::kReadOnly, storage, bytes);
    if (!tensor) {
      heap.release(storage);
      return nullptr;
    }
    std::ranges::copy(extents, tensor->extents());
    storage->sizeBytes = tensor->sizeBytes();
    storage->release = release;
    storage->context = context;
    return tensor;
  }));
  value->become(object);
  return value;
}

Result<Ref<Value>> makeData(Instance& instance, const TypeInfo& type, size_t constructor,
                            std::span<Value* const> fields) {
  if (!type.isData())
    return Error(ErrorCode::InvalidArgument, fmt::format("{} has no constructors", type.text));
  if (constructor >= type.definition->constructors.size())
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("constructor {} out of range: {} has {}", constructor, type.text,
                             type.definition->constructors.size()));
  const bytecode::Constructor& declared = type.definition->constructors[constructor];
  const std::vector<TypeInfo>& types = (*type.fields)[constructor];
  const std::string name = declared.name.empty() ? type.text : declared.name;
  if (fields.size() != types.size())
    return Error(ErrorCode::InvalidArgument, fmt::format("{} has {} field{}, found {}", name, types.size(),
                                                         types.size() == 1 ? "" : "s", fields.size()));
  for (size_t i = 0; i < fields.size(); ++i)
    if (std::optional<std::string> problem = findMismatch(types[i], *fields[i]))
      return Error(ErrorCode::InvalidArgument, fmt::format("field {} of {}: {}", i, name, *problem));
  BATON_TRY_ASSIGN(Object* const object, makeObject(instance, declared, constructor, [&](Object* made) {
                     for (size_t i = 0; i < fields.size(); ++i)
                       setField(made, declared.fields[i], *fields[i]);
                   }));
  return Value::data(type, object, true);
}

Result<Ref<Value>> makeList(Instance& instance, const TypeInfo& type, std::span<Value* const> items) {
  BATON_TRY_ASSIGN(const ListShape shape, listShape(type));
  BATON_TRY_ASSIGN(Ref<Value> list, makeData(instance, type, shape.nil, {}));
  for (size_t i = items.size(); i-- > 0;) {
    Value* fields[2];
    fields[shape.head] = items[i];
    fields[1 - shape.head] = list.get();
    Result<Ref<Value>> cell = makeData(instance, type, shape.cons, fields);
    if (!cell.has_value()) return std::move(cell).assume_error().withContext(fmt::format("item {}", i));
    list = std::move(cell).assume_value();
  }
  return list;
}

Result<Ref<Value>> makeArray(Instance& instance, const TypeInfo& type, std::span<Value* const> elements) {
  if (!type.isArray()) return Error(ErrorCode::InvalidArgument, fmt::format("{} is not an array", type.text));
  if (elements.size() > kMaxArrayLength)
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("{} elements: an array has at most {}", elements.size(), kMaxArrayLength));
  const TypeInfo& element = type.element();
  for (size_t i = 0; i < elements.size(); ++i)
    if (std::optional<std::string> problem = findMismatch(element, *elements[i]))
      return Error(ErrorCode::InvalidArgument, fmt::format("element {}: {}", i, *problem));
  if (elements.empty()) return Value::data(type, emptyArray(), true);
  const bool isScalar = element.kind == TypeKind::Scalar;
  BATON_TRY_ASSIGN(Object* const object, instance.values().make([&](Heap& heap) -> Object* {
    return heap.allocateArray(!isScalar, static_cast<uint32_t>(elements.size()));
  }));
  Array* array = asArray(object);
  for (const Value* value : elements) {
    if (!isScalar) retain(value->object());
    array->data[array->length++] = isScalar ? value->bits() : reinterpret_cast<uintptr_t>(value->object());
  }
  return Value::data(type, object, true);
}

Result<ListShape> listShape(const TypeInfo& type) {
  if (type.isList()) {
    const auto& constructors = type.definition->constructors;
    const auto nil = std::ranges::find_if(constructors, [](const auto& c) { return c.fields.empty(); });
    const auto cons = std::ranges::find_if(constructors, [](const auto& c) { return c.fields.size() == 2; });
    if (constructors.size() == 2 && nil != constructors.end() && cons != constructors.end()) {
      const auto consIndex = static_cast<size_t>(cons - constructors.begin());
      const std::vector<TypeInfo>& fields = (*type.fields)[consIndex];
      const size_t tail = fields[1].definition == type.definition ? 1 : 0;
      if (fields[tail].definition == type.definition)
        return ListShape{static_cast<size_t>(nil - constructors.begin()), consIndex, 1 - tail};
    }
  }
  return Error(ErrorCode::InvalidArgument, fmt::format("{} is not a list", type.text));
}

Ref<Value> fieldOf(const Value& value, size_t index) {
  Object* object = value.object();
  const TypeInfo& type = (*value.type()->fields)[object->tag][index];
  const bytecode::Field& field = value.type()->definition->constructors[object->tag].fields[index];
  return field.isScalar ? partOf(value, type, object->scalars()[field.slot], nullptr)
                        : partOf(value, type, 0, object->slots()[field.slot]);
}

Ref<Value> elementOf(const Value& value, size_t index) {
  Array* array = asArray(value.object());
  const TypeInfo& type = value.type()->element();
  return type.kind == TypeKind::Scalar ? partOf(value, type, array->data[index], nullptr)
                                       : partOf(value, type, 0, array->references()[index]);
}

bool isEqual(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  if (a.kind() == TypeKind::Scalar)
    return a.dtype() == b.dtype() && isSameScalar(a.dtype(), a.bits(), b.bits());
  if (a.kind() == TypeKind::Tensor) return isSameElements(*asTensor(a.object()), *asTensor(b.object()));
  if (!isSameStructure(*a.type(), *b.type())) return false;

  using Pair = std::pair<Object*, Object*>;
  std::vector<std::pair<const TypeInfo*, Pair>> pending{{a.type(), {a.object(), b.object()}}};
  std::unordered_set<Pair, boost::hash<Pair>> seen;  // of what several references lead to
  while (!pending.empty()) {
    const auto [type, objects] = pending.back();
    pending.pop_back();
    const auto [x, y] = objects;
    if (x == y) continue;
    if (type->kind == TypeKind::Tensor) {
      if (!isSameElements(*asTensor(x), *asTensor(y))) return false;
      continue;
    }
    if (!type->hasParts()) return false;
    if (x->count.load(std::memory_order_relaxed) != kSharedCount + 1 && !seen.insert(objects).second)
      continue;
    if (type->isArray()) {
      Array *left = asArray(x), *right = asArray(y);
      if (left->length != right->length) return false;
      const TypeInfo& element = type->element();
      for (uint32_t i = left->length; i-- > 0;) {
        if (element.kind != TypeKind::Scalar)
          pending.push_back({&element, {left->references()[i], right->references()[i]}});
        else if (!isSameScalar(element.dtype, left->data[i], right->data[i]))
          return false;
      }
      continue;
    }
    if (x->tag != y->tag) return false;
    const bytecode::Constructor& constructor = type->definition->constructors[x->tag];
    const std::vector<TypeInfo>& fields = (*type->fields)[x->tag];
    for (size_t i = fields.size(); i-- > 0;) {
      const bytecode::Field& field = constructor.fields[i];
      if (!field.isScalar)
        pending.push_back({&fields[i], {x->slots()[field.slot], y->slots()[field.slot]}});
      else if (!isSameScalar(fields[i].dtype, x->scalars()[field.slot], y->scalars()[field.slot]))
        return false;
    }
  }
  return true;
}

}  // namespace baton::vm

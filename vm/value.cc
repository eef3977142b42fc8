#include "vm/value.h"

#include <new>

namespace baton::vm {

Ref<Value> Value::scalar(DType dtype, uint64_t bits) {
  Ref<Value> value = adopt(new Value);
  value->kind_ = TypeKind::Scalar;
  value->dtype_ = dtype;
  value->bits_ = bits;
  return value;
}

Ref<Value> Value::reserve() { return adopt(new Value); }

Ref<Value> Value::around(Object* object) {
  Value* value = new (std::nothrow) Value;
  if (!value) {
    Heap::releaseShared(object);
    throw std::bad_alloc();
  }
  value->object_ = object;
  return adopt(value);
}

void Value::become(Object* tensor) noexcept {
  kind_ = TypeKind::Tensor;
  dtype_ = asTensor(tensor)->dtype();
  object_ = tensor;
}

Ref<Value> Value::tensor(Object* tensor) {
  Ref<Value> value = around(tensor);
  value->become(tensor);
  return value;
}

Ref<Value> Value::data(const TypeInfo& type, Object* object, bool isChecked) {
  Ref<Value> value = around(object);
  value->kind_ = type.kind;
  value->type_ = &type;
  value->executable_ = type.executable;
  value->isChecked_.store(isChecked, std::memory_order_relaxed);
  return value;
}

Value::~Value() {
  if (object_) Heap::releaseShared(object_);
}

const void* Value::elements() const {
  if (kind_ == TypeKind::Scalar) return &bits_;
  return kind_ == TypeKind::Tensor ? asTensor(object_)->data : nullptr;
}

uint64_t Value::sizeBytes() const {
  if (kind_ == TypeKind::Scalar) return static_cast<uint64_t>(baton::sizeBytes(dtype_));
  return kind_ == TypeKind::Tensor ? asTensor(object_)->sizeBytes() : 0;
}

}  // namespace baton::vm

// Values outside of contexts: what baton_value points to. Immutable; any thread may hold one.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/dtype.h"
#include "vm/executable.h"
#include "vm/heap.h"
#include "vm/type_info.h"

namespace baton::vm {

class Value final : public Retainable {
 public:
  static Ref<Value> scalar(DType dtype, uint64_t bits);
  /// Takes over a reference to a shared tensor, even when it throws.
  static Ref<Value> tensor(Object* tensor);
  /// A value that is nothing yet, and may become a tensor when nothing may fail any more.
  static Ref<Value> reserve();
  void become(Object* tensor) noexcept;
  /// Takes over a reference to a shared object that is of this type, even when it throws.
  static Ref<Value> data(const TypeInfo& type, Object* object, bool isChecked);

  TypeKind kind() const { return kind_; }
  bool isTensorLike() const { return kind_ == TypeKind::Tensor || kind_ == TypeKind::Scalar; }
  /// Null for tensors and scalars.
  const TypeInfo* type() const { return type_; }
  DType dtype() const { return dtype_; }
  uint64_t bits() const { return bits_; }
  /// Null for scalars.
  Object* object() const { return object_; }
  std::span<const int64_t> extents() const {
    return kind_ == TypeKind::Tensor ? asTensor(object_)->shape() : std::span<const int64_t>();
  }
  /// Dense elements of a tensor or scalar; null for data.
  const void* elements() const;
  uint64_t sizeBytes() const;
  /// Gives up the object: the caller has its reference, and the value nothing any more.
  Object* takeObject() { return std::exchange(object_, nullptr); }

  /// Whether the extents inside data are known to be what its type says.
  bool isChecked() const { return isChecked_.load(std::memory_order_relaxed); }
  void setChecked() const { isChecked_.store(true, std::memory_order_relaxed); }

 private:
  Value() = default;
  ~Value() override;
  static Ref<Value> around(Object* object);

  TypeKind kind_ = TypeKind::Scalar;
  DType dtype_ = DType::F32;
  mutable std::atomic<bool> isChecked_{true};
  uint64_t bits_ = 0;  // scalar: its 64-bit form, whose low end is the element
  Object* object_ = nullptr;
  const TypeInfo* type_ = nullptr;
  Ref<const Executable> executable_;  // keeps type_ alive
};

}  // namespace baton::vm

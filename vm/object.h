// Objects: what a reference points to. Every object begins with the same 16 bytes; its
// reference slots follow the header of its kind directly, and only those of an array may lie
// elsewhere, so that releasing, sharing and walking are written once for all kinds.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/dtype.h"
#include "base/limits.h"

namespace baton::vm {

/// Kinds that need more than their memory given back come first (see needsFinish).
enum class ObjectKind : uint8_t {
  Free = 0,     ///< not an object: memory on a free list of its heap
  Tensor = 1,   ///< dense row-major elements; slot 0 is the owner of its memory, or null
  Storage = 2,  ///< a region of memory that tensors lie in
  Cell = 3,     ///< a mutable cell: one slot, or one scalar
  Array = 4,    ///< elements of one kind, as many as it likes
  Adt = 5,      ///< a value of a data type or a tuple; `tag` is its constructor
  Closure = 6,  ///< captures; `tag` is its function
};

/// Counts. A positive count is private to one context and not atomic. The sign bit is the
/// *shared* bit: such an object is counted atomically, from kSharedCount upwards. An object
/// of the immortal range is not counted at all: constants, and what would overflow.
using Count = int32_t;
inline constexpr Count kSharedCount = INT32_MIN;
inline constexpr Count kImmortalBit = 1 << 30;
inline constexpr Count kImmortalCount = kSharedCount + kImmortalBit + kImmortalBit / 2;
inline constexpr uint32_t kMaxPrivateCount = 0x7fff0000u;

constexpr bool isSharedCount(Count count) { return count < 0; }
constexpr bool isImmortalCount(Count count) { return count < 0 && (count & kImmortalBit) != 0; }

struct Object {
  std::atomic<Count> count;
  ObjectKind kind;
  uint8_t sizeClass;   ///< of its heap; the heap's affair
  uint16_t slotCount;  ///< references that it holds; Array: 1 when its elements are references, else 0
  uint32_t tag;        ///< Adt: constructor; Closure: function; Tensor: see TensorTag
  uint32_t scratch;    ///< of walks that hold the object to themselves

  // Free memory and dead objects are linked through the second half of the header.
  Object* link() const {
    Object* next;
    std::memcpy(&next, &tag, sizeof next);
    return next;
  }
  void setLink(Object* next) { std::memcpy(&tag, &next, sizeof next); }

  /// Of all kinds but Array.
  Object** slots() { return reinterpret_cast<Object**>(this + 1); }
  Object* const* slots() const { return reinterpret_cast<Object* const*>(this + 1); }
  /// The references in an object of any kind.
  std::span<Object*> slotSpan();
  /// Scalars of an Adt or a Closure, or the one of a Cell: after the slots.
  uint64_t* scalars() { return reinterpret_cast<uint64_t*>(slots() + slotCount); }
  const uint64_t* scalars() const { return reinterpret_cast<const uint64_t*>(slots() + slotCount); }

  bool isShared() const { return isSharedCount(count.load(std::memory_order_relaxed)); }
  bool isImmortal() const { return isImmortalCount(count.load(std::memory_order_relaxed)); }
  /// Whether the reference in hand is the only one, so that nobody can see a change.
  bool isUnique() const {
    const Count now = count.load(std::memory_order_acquire);
    return now == 1 || now == kSharedCount + 1;
  }
};
static_assert(sizeof(Object) == 16);

constexpr bool needsFinish(ObjectKind kind) { return kind <= ObjectKind::Array; }

/// A tensor's tag: dtype, rank and device, a byte each, then flags.
struct TensorTag {
  /// The memory may never be written: constants and imported memory.
  static constexpr uint32_t kReadOnly = 1u << 24;
  /// The memory may be written although its owner is shared: when the tensor was made, nobody
  /// else could see it.
  static constexpr uint32_t kReused = 1u << 25;
  static constexpr uint32_t kFlags = kReadOnly | kReused;
  static constexpr uint32_t pack(DType dtype, uint32_t rank, uint32_t device, uint32_t flags) {
    return static_cast<uint32_t>(dtype) | rank << 8 | device << 16 | flags;
  }
};

struct Tensor : Object {
  Object* owner;        ///< slot 0: a Storage or a Tensor whose memory this one looks at; null: its own
  std::byte* data;      ///< never null
  uint64_t blockBytes;  ///< of a block that this tensor gives back; 0: inline, or the owner's

  DType dtype() const { return static_cast<DType>(tag & 0xff); }
  uint32_t rank() const { return (tag >> 8) & 0xff; }
  uint32_t device() const { return (tag >> 16) & 0xff; }
  uint32_t flags() const { return tag & TensorTag::kFlags; }
  bool isReadOnly() const { return (tag & TensorTag::kReadOnly) != 0; }
  int64_t* extents() { return reinterpret_cast<int64_t*>(this + 1); }
  const int64_t* extents() const { return reinterpret_cast<const int64_t*>(this + 1); }
  std::span<const int64_t> shape() const { return {extents(), rank()}; }
  /// The extents were checked when the tensor was made: the count fits, though with a zero
  /// among them a product on the way need not.
  int64_t elementCount() const {
    uint64_t product = 1;
    for (int64_t extent : shape()) product *= static_cast<uint64_t>(extent);
    return static_cast<int64_t>(product);
  }
  uint64_t sizeBytes() const {
    return static_cast<uint64_t>(elementCount()) * static_cast<uint64_t>(baton::sizeBytes(dtype()));
  }
  /// Whether a kernel may fill it: nothing that a caller still holds would change.
  bool isOutput() const {
    if (isReadOnly() || (isShared() && !isUnique())) [[unlikely]]
      return false;
    return owner == nullptr || !owner->isShared() || (tag & TensorTag::kReused) != 0 || owner->isUnique();
  }
  /// Whether its memory is seen through this tensor alone and may be written.
  bool isWritableInPlace() const {
    return isUnique() && !isReadOnly() && (owner == nullptr || owner->isUnique());
  }
};
static_assert(sizeof(Tensor) == 40);

struct Storage : Object {
  std::byte* data;
  uint64_t sizeBytes;
  uint64_t blockBytes;                       ///< as in Tensor
  uint64_t alignment;                        ///< of the block
  void (*release)(void* context) = nullptr;  ///< memory of somebody else: told when it is not used any more
  void* context = nullptr;
};

/// All cells of a heap are on one list: they alone can make cycles.
struct Cell : Object {
  union {
    Object* reference;  ///< null: empty, between cell_take_ref and cell_write_ref
    uint64_t scalar;
  };
  Cell* previous;
  Cell* next;
};

/// Elements lie in the object as long as they are few, then in a block of their own.
struct Array : Object {
  uint32_t length;
  uint32_t capacity;
  uint64_t* data;       ///< references, or scalars in their 64-bit form
  uint64_t blockBytes;  ///< of the block; 0: inline

  bool holdsReferences() const { return slotCount != 0; }
  Object** references() { return reinterpret_cast<Object**>(data); }
};
static_assert(sizeof(Array) == 40);

inline std::span<Object*> Object::slotSpan() {
  if (kind != ObjectKind::Array) [[likely]]
    return {slots(), slotCount};
  Array* array = static_cast<Array*>(this);
  return {array->references(), array->holdsReferences() ? array->length : 0};
}

inline Tensor* asTensor(Object* object) { return static_cast<Tensor*>(object); }
inline Storage* asStorage(Object* object) { return static_cast<Storage*>(object); }
inline Cell* asCell(Object* object) { return static_cast<Cell*>(object); }
inline Array* asArray(Object* object) { return static_cast<Array*>(object); }

void retainSlow(Object* object);

/// Adds a reference.
inline void retain(Object* object) {
  const Count now = object->count.load(std::memory_order_relaxed);
  if (static_cast<uint32_t>(now) < kMaxPrivateCount) [[likely]]
    object->count.store(now + 1, std::memory_order_relaxed);
  else
    retainSlow(object);
}

/// The value of a constructor without fields: one immortal object per tag, up to a limit.
inline constexpr uint32_t kNullaryCount = 64;
Object* nullaryAdt(uint32_t tag);
/// The array without elements, of any kind: one immortal object.
Array* emptyArray();

}  // namespace baton::vm

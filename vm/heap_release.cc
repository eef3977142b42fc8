// How objects end: counts that reach zero, in this heap or another, on this thread or another.
#include <new>

#include "vm/heap.h"

namespace baton::vm {

void retainSlow(Object* object) {
  Count now = object->count.load(std::memory_order_relaxed);
  if (now > 0) {
    // Two thousand million references: it is not counted any more, and its heap stays.
    object->count.store(kImmortalCount, std::memory_order_relaxed);
    Heap::heapOf(object)->addShared(1);
    return;
  }
  if (isImmortalCount(now)) return;
  now = object->count.fetch_add(1, std::memory_order_relaxed);
  if (now >= kSharedCount + kImmortalBit / 2 && !isImmortalCount(now))
    object->count.store(kImmortalCount, std::memory_order_relaxed);
}

namespace {
struct NullaryTable {
  Object objects[kNullaryCount];
  constexpr NullaryTable() : objects{} {
    for (uint32_t tag = 0; tag < kNullaryCount; ++tag) {
      std::construct_at(&objects[tag].count, kImmortalCount);
      objects[tag].kind = ObjectKind::Adt;
      objects[tag].tag = tag;
    }
  }
};
constinit NullaryTable nullaryTable;  // never written

struct EmptyArray {
  Array object;
  constexpr EmptyArray() : object{} {
    std::construct_at(&object.count, kImmortalCount);
    object.kind = ObjectKind::Array;
  }
};
constinit EmptyArray emptyArrayObject;  // never written
}  // namespace

Object* nullaryAdt(uint32_t tag) { return &nullaryTable.objects[tag]; }
Array* emptyArray() { return &emptyArrayObject.object; }

bool Heap::makePrivate(Object* object) {
  if (!object->isShared()) return true;
  if (heapOf(object) != this) return false;
  object->count.store(1, std::memory_order_relaxed);
  dropReference();  // the context still has its own
  return true;
}

bool Heap::dropShared(Object* object) {
  if (object->isImmortal()) return false;
  return object->count.fetch_sub(1, std::memory_order_acq_rel) == kSharedCount + 1;
}

void Heap::releaseLast(Object* object, Count seen) {
  if (seen == 1 || dropShared(object)) destroy(object, this);
}

void Heap::releaseShared(Object* object) {
  if (dropShared(object)) destroy(object, nullptr);
}

void Heap::destroy(Object* object, Heap* self) {
  // Dead objects wait on a list through their own memory: no recursion, no allocation.
  Object* pending = nullptr;
  for (;;) {
    for (Object* child : object->slotSpan()) {
      if (!child) continue;
      const Count now = child->count.load(std::memory_order_relaxed);
      if (now > 1) {
        child->count.store(now - 1, std::memory_order_relaxed);
      } else if (now == 1 || dropShared(child)) {
        child->setLink(pending);
        pending = child;
      }
    }
    if (needsFinish(object->kind)) finish(object, self);
    if (object->isShared()) {
      Heap* home = heapOf(object);
      if (home == self) {
        self->giveBack(object);
        self->dropReference();
      } else {
        home->freeRemotely(object);
      }
    } else {
      self->giveBack(object);
    }
    if (!pending) return;
    object = pending;
    pending = object->link();
  }
}

void Heap::finish(Object* object, Heap* self) {
  if (object->kind == ObjectKind::Cell) {
    Cell* cell = asCell(object);
    (cell->previous ? cell->previous->next : self->cells_) = cell->next;
    if (cell->next) cell->next->previous = cell->previous;
    return;
  }
  std::byte* data;
  uint64_t blockBytes;
  uint64_t alignment = kTensorAlignment;
  if (object->kind == ObjectKind::Tensor) {
    data = asTensor(object)->data;
    blockBytes = asTensor(object)->blockBytes;
  } else if (object->kind == ObjectKind::Array) {
    data = reinterpret_cast<std::byte*>(asArray(object)->data);
    blockBytes = asArray(object)->blockBytes;
  } else {
    Storage* storage = asStorage(object);
    if (storage->release) storage->release(storage->context);
    data = storage->data;
    blockBytes = storage->blockBytes;
    alignment = storage->alignment;
  }
  if (blockBytes == 0) return;
  Heap* home = object->isShared() ? heapOf(object) : self;
  if (home == self) {
    self->giveBlock(data, blockBytes, alignment);
  } else {
    home->remote_.release(data, blockBytes, alignment);
    home->remoteBlockBytes_.fetch_add(static_cast<int64_t>(blockBytes), std::memory_order_relaxed);
  }
}

void Heap::giveBack(Object* object) {
  if (object->sizeClass == kLargeClass) [[unlikely]]
    giveLarge(object);
  else
    giveSmall(object);
}

void Heap::freeRemotely(Object* object) {
  Object* head = remoteFree_.load(std::memory_order_relaxed);
  do {
    object->setLink(head);
  } while (
      !remoteFree_.compare_exchange_weak(head, object, std::memory_order_release, std::memory_order_relaxed));
  dropReference();
}

void Heap::drainRemote() {
  if (remoteBlockBytes_.load(std::memory_order_relaxed) != 0)
    available_ += remoteBlockBytes_.exchange(0, std::memory_order_relaxed);
  if (!remoteFree_.load(std::memory_order_relaxed)) return;
  for (Object* object = remoteFree_.exchange(nullptr, std::memory_order_acquire); object;) {
    Object* next = object->link();
    giveBack(object);
    object = next;
  }
}

void Heap::dropReference() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

}  // namespace baton::vm

#include "vm/share.h"

#include <algorithm>

namespace baton::vm {

namespace {

bool isConstant(const Object* object) { return object->kind == ObjectKind::Tensor && object->isImmortal(); }

/// A counted tensor over the memory of a constant; null when memory is refused.
Tensor* countedConstant(Heap& heap, Tensor* constant, const Retainable* constants) {
  Storage* storage = heap.adoptStorage(
      constant->data, constant->sizeBytes(),
      [](void* context) { static_cast<const Retainable*>(context)->release(); },
      const_cast<Retainable*>(constants));
  if (!storage) return nullptr;
  constants->retain();
  Tensor* tensor = heap.allocateView(constant->dtype(), constant->device(), constant->rank(),
                                     TensorTag::kReadOnly, storage, constant->data);
  if (!tensor) {
    heap.release(storage);
    return nullptr;
  }
  std::copy_n(constant->extents(), constant->rank(), tensor->extents());
  return tensor;
}

void mark(Object* object, uint64_t& marked) {
  const Count now = object->count.load(std::memory_order_relaxed);
  object->count.store(now < kImmortalBit / 2 ? kSharedCount + now : kImmortalCount,
                      std::memory_order_relaxed);
  object->scratch = 0;
  // Others will see the memory from now on.
  if (object->kind == ObjectKind::Tensor) object->tag &= ~TensorTag::kReused;
  ++marked;
}

}  // namespace

ShareOutcome share(Heap& heap, Object*& root, const Retainable* constants, std::vector<uint32_t>* path) {
  if (isConstant(root)) {
    Tensor* tensor = countedConstant(heap, asTensor(root), constants);
    if (!tensor) return ShareOutcome::NoMemory;
    root = tensor;
  }
  if (root->isShared()) return ShareOutcome::Done;
  if (root->kind == ObjectKind::Cell) return ShareOutcome::HoldsCell;

  // The way back is kept in the slots that were followed (the object is ours alone, and its
  // scratch word says which slot), so depth costs nothing.
  ShareOutcome outcome = ShareOutcome::Done;
  uint64_t marked = 0;
  Object* parent = nullptr;
  Object* current = root;
  mark(current, marked);
  for (;;) {
    const std::span<Object*> slots = current->slotSpan();
    if (outcome == ShareOutcome::Done && current->scratch < slots.size()) {
      Object*& slot = slots[current->scratch];
      Object* child = slot;
      if (child && isConstant(child)) {
        Tensor* tensor = countedConstant(heap, asTensor(child), constants);
        if (!tensor) {
          outcome = ShareOutcome::NoMemory;
          continue;
        }
        slot = child = tensor;
      }
      if (!child || child->isShared()) {
        ++current->scratch;
      } else if (child->kind == ObjectKind::Cell) {
        outcome = ShareOutcome::HoldsCell;
        if (path) path->assign(1, current->scratch);
      } else {
        slot = parent;
        parent = current;
        current = child;
        mark(current, marked);
      }
      continue;
    }
    if (!parent) break;
    Object*& slot = parent->slotSpan()[parent->scratch];
    Object* grandparent = slot;
    slot = current;
    current = parent;
    parent = grandparent;
    if (outcome == ShareOutcome::HoldsCell && path) {
      // The way is found from its end; what is far from the root is left out.
      path->insert(path->begin(), current->scratch);
      if (path->size() > kMaxSharePath) path->pop_back();
    }
    ++current->scratch;
  }
  heap.addShared(marked);
  return outcome;
}

}  // namespace baton::vm

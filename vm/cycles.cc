#include "vm/cycles.h"

#include <new>
#include <unordered_map>
#include <vector>

namespace baton::vm {

namespace {

struct Seen {
  Count outside;  // references that do not come from what was walked
  bool isLive = false;
};

/// Calls `f` for every object that `object` refers to and that belongs to this context alone.
template <class F>
void forEachChild(Object* object, F&& f) {
  for (Object* child : object->slotSpan())
    if (child && !child->isShared()) f(child);
}

/// What a set of cells, all that there are, keep alive only among themselves.
std::vector<Cell*> findGarbage(Heap& heap) {
  std::unordered_map<Object*, Seen> seen;
  std::vector<Object*> pending;
  const auto visit = [&](Object* object) -> Seen& {
    const auto [entry, isNew] = seen.try_emplace(object);
    if (isNew) {
      entry->second.outside = object->count.load(std::memory_order_relaxed);
      pending.push_back(object);
    }
    return entry->second;
  };
  for (Cell* cell = heap.cells(); cell; cell = cell->next) visit(cell);
  while (!pending.empty()) {
    Object* object = pending.back();
    pending.pop_back();
    forEachChild(object, [&](Object* child) { --visit(child).outside; });
  }

  for (auto& [object, state] : seen) {
    if (state.outside == 0 || state.isLive) continue;
    state.isLive = true;
    pending.push_back(object);
  }
  while (!pending.empty()) {
    Object* object = pending.back();
    pending.pop_back();
    forEachChild(object, [&](Object* child) {
      Seen& state = seen.at(child);
      if (state.isLive) return;
      state.isLive = true;
      pending.push_back(child);
    });
  }

  std::vector<Cell*> garbage;
  for (Cell* cell = heap.cells(); cell; cell = cell->next)
    if (!seen.at(cell).isLive && cell->slotCount != 0) garbage.push_back(cell);
  return garbage;
}

}  // namespace

void collectCycles(Heap& heap) {
  if (!heap.cells()) return;
  try {
    const std::vector<Cell*> garbage = findGarbage(heap);
    // Every cycle goes through a cell: emptying them leaves the rest to counting.
    std::vector<Object*> contents;
    contents.reserve(garbage.size());
    for (Cell* cell : garbage) {
      if (cell->reference) contents.push_back(cell->reference);
      cell->reference = nullptr;
    }
    for (Object* content : contents) heap.release(content);
  } catch (const std::bad_alloc&) {
    // They wait for the end of the next call, or of the context.
  }
}

}  // namespace baton::vm

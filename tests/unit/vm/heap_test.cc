#include <catch2/catch.hpp>

#include "plain_allocator.h"
#include "vm/heap.h"
#include "vm/share.h"

using namespace baton;
using namespace baton::vm;

namespace {

/// Ends with the check that everything was given back.
struct HeapFixture {
  HeapFixture() : heap(std::move(Heap::create(allocator, allocator, owner)).assume_value()) {}
  ~HeapFixture() {
    if (heap) heap->abandon();
    CHECK(allocator.openBytes == 0);
  }
  Object* cons(Object* tail, uint64_t value = 0) const {
    Object* cell = heap->allocateRecord(ObjectKind::Adt, 0, 1, 1);
    cell->slots()[0] = tail;
    cell->scalars()[0] = value;
    return cell;
  }
  PlainAllocator allocator;
  NoOwner owner;
  Heap* heap;
};

}  // namespace

TEST_CASE("size classes hold what they are asked for, with little to spare") {
  for (uint32_t bytes = 1; bytes <= kMaxSmallBytes; ++bytes) {
    const uint32_t sizeClass = sizeClassOf(bytes);
    REQUIRE(sizeClass < kSizeClassCount);
    REQUIRE(kSizeClassBytes[sizeClass] >= bytes);
    if (sizeClass > 0) REQUIRE(kSizeClassBytes[sizeClass - 1] < bytes);
  }
}

TEST_CASE("objects are counted, freed and used again") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  Object* first = heap.allocateRecord(ObjectKind::Adt, 7, 0, 2);
  CHECK(first->tag == 7);
  CHECK(first->kind == ObjectKind::Adt);
  CHECK(heap.inUseBytes() == 32);
  retain(first);
  heap.release(first);
  CHECK(heap.inUseBytes() == 32);
  heap.release(first);
  CHECK(heap.inUseBytes() == 0);
  Object* second = heap.allocateRecord(ObjectKind::Adt, 8, 0, 2);
  CHECK(second == first);
  heap.release(second);
}

TEST_CASE("tensors of every size have aligned memory of their own") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  for (const int64_t extent : {0, 1, 15, 16, 17, 500, 1024, 1030, 100000}) {
    const int64_t extents[] = {extent, 2};
    Tensor* tensor = heap.allocateTensor(DType::F32, 0, extents, static_cast<uint64_t>(extent) * 8);
    REQUIRE(tensor != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(tensor->data) % 64 == 0);
    CHECK(tensor->sizeBytes() == static_cast<uint64_t>(extent) * 8);
    CHECK(tensor->isWritableInPlace());
    std::memset(tensor->data, 0xAB, tensor->sizeBytes());
    heap.release(tensor);
  }
  CHECK(heap.inUseBytes() == 0);
}

TEST_CASE("large objects are allocated and freed alone") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  Object* objects[3];
  for (Object*& object : objects) {
    object = heap.allocateRecord(ObjectKind::Adt, 1, 60000, 0);
    REQUIRE(object != nullptr);
    CHECK(object->slotCount == 60000);
    for (Object*& slot : object->slotSpan()) slot = nullptr;
  }
  objects[0]->slots()[59999] = objects[1];
  heap.release(objects[2]);
  heap.release(objects[0]);
  CHECK(heap.inUseBytes() == 0);
  CHECK(fixture.allocator.openBytes == static_cast<int64_t>(heap.reservedPageBytes()));
}

TEST_CASE("ten million cells are freed without recursion or memory") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  Object* list = nullptr;
  for (int i = 0; i < 10000000; ++i) list = fixture.cons(list);
  const int64_t allocations = fixture.allocator.allocationCount;
  heap.release(list);
  CHECK(heap.inUseBytes() == 0);
  CHECK(fixture.allocator.allocationCount == allocations);
  heap.trim();
  CHECK(fixture.allocator.openBytes == 0);
}

TEST_CASE("trim keeps pages with objects and forgets the rest") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  std::vector<Object*> objects;
  for (uint64_t i = 0; i < 50000; ++i) objects.push_back(fixture.cons(nullptr, i));
  const uint64_t reserved = heap.reservedPageBytes();
  for (size_t i = 1; i < objects.size(); ++i) heap.release(objects[i]);
  heap.trim();
  CHECK(heap.reservedPageBytes() < reserved / 4);
  CHECK(objects[0]->scalars()[0] == 0);
  // Other classes take over the pages that are free.
  std::vector<Object*> others;
  for (int i = 0; i < 1000; ++i) others.push_back(heap.allocateRecord(ObjectKind::Adt, 0, 0, 20));
  for (Object* object : others) heap.release(object);
  heap.release(objects[0]);
  heap.trim();
  CHECK(heap.reservedPageBytes() == 0);
  CHECK(fixture.allocator.openBytes == 0);
}

TEST_CASE("limits refuse what exceeds them, and say so") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  heap.setLimit(1000);
  const int64_t extent = 100;
  Tensor* tensor = heap.allocateTensor(DType::F32, 0, {&extent, 1}, 400);
  REQUIRE(tensor != nullptr);
  CHECK(heap.allocateTensor(DType::F32, 0, {&extent, 1}, 400) == nullptr);
  CHECK(heap.takeFailure().code() == ErrorCode::LimitReached);
  heap.release(tensor);
  tensor = heap.allocateTensor(DType::F32, 0, {&extent, 1}, 400);
  CHECK(tensor != nullptr);
  heap.setLimit(Heap::kNoLimit);
  heap.release(tensor);
  CHECK(heap.inUseBytes() == 0);
}

TEST_CASE("sharing marks everything once and gives the heap to its values") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  Object* shared = fixture.cons(nullptr, 1);
  retain(shared);
  Object* pair = heap.allocateRecord(ObjectKind::Adt, 0, 2, 0);
  pair->slots()[0] = fixture.cons(shared, 2);
  pair->slots()[1] = shared;
  CHECK(share(heap, pair, nullptr) == ShareOutcome::Done);
  CHECK(pair->isShared());
  CHECK(shared->count.load() == kSharedCount + 2);
  CHECK(pair->slots()[0]->slots()[0] == shared);
  CHECK(pair->isUnique());
  fixture.heap->abandon();
  fixture.heap = nullptr;
  CHECK(fixture.allocator.openBytes > 0);
  CHECK(shared->scalars()[0] == 1);
  Heap::releaseShared(pair);  // the fixture checks that this was the last of it
}

TEST_CASE("a walk that meets a cell says where and leaves the data whole") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  Cell* cell = heap.allocateCell(false);
  Object* inner = heap.allocateRecord(ObjectKind::Adt, 0, 3, 0);
  inner->slots()[0] = fixture.cons(nullptr);
  inner->slots()[1] = fixture.cons(nullptr);
  inner->slots()[2] = cell;
  Object* outer = heap.allocateRecord(ObjectKind::Adt, 0, 2, 0);
  outer->slots()[0] = fixture.cons(nullptr);
  outer->slots()[1] = inner;
  std::vector<uint32_t> path;
  CHECK(share(heap, outer, nullptr, &path) == ShareOutcome::HoldsCell);
  CHECK(path == std::vector<uint32_t>{1, 2});
  CHECK(outer->slots()[1] == inner);
  CHECK(inner->slots()[2] == cell);
  heap.release(outer);
  CHECK(heap.cells() == nullptr);
  CHECK(heap.inUseBytes() == 0);
}

TEST_CASE("an abandoned heap gives back what was private, cycles included") {
  HeapFixture fixture;
  Heap& heap = *fixture.heap;
  const int64_t extent = 100000;
  Object* record = heap.allocateRecord(ObjectKind::Adt, 0, 2, 0);
  Cell* cell = heap.allocateCell(true);
  cell->reference = record;
  record->slots()[0] = cell;
  record->slots()[1] = heap.allocateTensor(DType::F32, 0, {&extent, 1}, 400000);
  int released = 0;
  Storage* lent =
      heap.adoptStorage(nullptr, 0, [](void* context) { ++*static_cast<int*>(context); }, &released);
  static_cast<void>(lent);
  fixture.heap->abandon();
  fixture.heap = nullptr;
  CHECK(released == 1);
}

TEST_CASE("counts beyond what fits are pinned, not wrapped") {
  HeapFixture fixture;
  Object* object = fixture.cons(nullptr);
  object->count.store(static_cast<Count>(kMaxPrivateCount), std::memory_order_relaxed);
  retain(object);
  CHECK(object->isImmortal());
  fixture.heap->release(object);
  CHECK(object->isImmortal());
  // Nothing gives it back any more: the test does.
  object->count.store(kSharedCount + 1, std::memory_order_relaxed);
  fixture.heap->release(object);
}

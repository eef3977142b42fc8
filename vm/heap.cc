#include "vm/heap.h"

#include <algorithm>
#include <new>

#include <fmt/format.h>

#include "base/checked_math.h"

namespace baton::vm {

namespace {
constexpr uint64_t kPageBytes = 32 << 10;
constexpr uint64_t kFirstChunkBytes = 4 * kPageBytes;
constexpr uint64_t kLargestChunkBytes = 32 * kPageBytes;
/// Objects put on a free list at a time: enough to pay for the slow path, few enough that
/// memory is not touched long before it is used.
constexpr uint32_t kCarveBytes = 2048;
/// Sums of sizes below this cannot overflow.
constexpr uint64_t kMaxBytes = uint64_t{1} << 61;

constexpr uint32_t tensorHeaderBytes(uint32_t rank) { return sizeof(Tensor) + 8 * rank; }
constexpr uint64_t roundToLine(uint64_t bytes) { return (bytes + 63) & ~uint64_t{63}; }
}  // namespace

/// At the start of every page, which is aligned to its size.
struct Heap::Page {
  Heap* heap;
  Page* chunk;           // the first page of its chunk
  Page* next;            // of chunks (first pages) or large objects
  Page* link;            // of free pages; large objects: the one before
  uint64_t chunkBytes;   // first page and large: size of the allocation
  uint32_t objectBytes;  // 0: a page without a class
  uint32_t carvedCount;  // objects that were ever on a free list
  uint32_t freeCount;    // while trimming
  uint32_t sizeClass;

  std::byte* objects() { return reinterpret_cast<std::byte*>(this) + 64; }
  uint32_t capacity() const { return static_cast<uint32_t>((kPageBytes - 64) / objectBytes); }
  Object* object(uint32_t index) {
    return reinterpret_cast<Object*>(objects() + uint64_t{index} * objectBytes);
  }
  Page* after() { return reinterpret_cast<Page*>(reinterpret_cast<std::byte*>(this) + kPageBytes); }
  Page* chunkEnd() { return reinterpret_cast<Page*>(reinterpret_cast<std::byte*>(this) + chunkBytes); }
};

Heap::Heap(Allocator& local, Allocator& remote, const Retainable& owner)
    : nextChunkBytes_(kFirstChunkBytes), local_(local), remote_(remote), owner_(owner) {
  static_assert(sizeof(Page) <= 64);
  owner_.retain();
}

Result<Heap*> Heap::create(Allocator& local, Allocator& remote, const Retainable& owner) {
  Heap* heap = new (std::nothrow) Heap(local, remote, owner);
  if (!heap) return Error(ErrorCode::OutOfMemory, "no memory for a heap");
  return heap;
}

Heap::~Heap() {
  // Whoever gives up the last reference runs this, so only the thread-safe allocator will do.
  for (Page* page = chunks_; page;) {
    Page* next = page->next;
    remote_.release(page, page->chunkBytes, kPageBytes);
    page = next;
  }
  for (Page* page = large_; page;) {
    Page* next = page->next;
    remote_.release(page, page->chunkBytes, kPageBytes);
    page = next;
  }
  owner_.release();
}

//===-- Accounts -----------------------------------------------------------===//

void Heap::setLimit(uint64_t moreBytes) {
  drainRemote();
  const int64_t inUse = base_ - available_;
  available_ = moreBytes < kMaxBytes ? static_cast<int64_t>(moreBytes) : INT64_MAX / 2;
  base_ = available_ + inUse;
}

void Heap::refuse(uint64_t bytes) {
  failure_ = Error(
      ErrorCode::LimitReached,
      fmt::format("memory limit of this call reached: {} bytes asked, {} left, {} in use by the context",
                  bytes, std::max<int64_t>(available_, 0), inUseBytes()));
}

Error Heap::takeFailure() {
  if (!failure_) return Error(ErrorCode::OutOfMemory, "out of memory");
  Error failure = std::move(*failure_);
  failure_.reset();
  return failure;
}

bool Heap::charge(uint64_t bytes) {
  if (bytes > kMaxBytes || available_ < static_cast<int64_t>(bytes)) {
    drainRemote();
    if (bytes > kMaxBytes || available_ < static_cast<int64_t>(bytes)) {
      refuse(bytes);
      return false;
    }
  }
  available_ -= static_cast<int64_t>(bytes);
  peakInUse_ = std::max(peakInUse_, base_ - available_);
  return true;
}

void* Heap::takeFromAllocator(uint64_t bytes, uint64_t alignment) {
  Result<void*> memory = local_.allocate(bytes, alignment);
  if (!memory.has_value()) {
    trim();
    memory = local_.allocate(bytes, alignment);
  }
  if (memory.has_value()) return memory.assume_value();
  failure_ = std::move(memory).assume_error();
  return nullptr;
}

std::byte* Heap::takeBlock(uint64_t bytes, uint64_t alignment) {
  if (!charge(bytes)) return nullptr;
  void* memory = takeFromAllocator(bytes, alignment);
  if (!memory) available_ += static_cast<int64_t>(bytes);
  return static_cast<std::byte*>(memory);
}

void Heap::giveBlock(std::byte* data, uint64_t bytes, uint64_t alignment) {
  local_.release(data, bytes, alignment);
  available_ += static_cast<int64_t>(bytes);
}

//===-- Pages --------------------------------------------------------------===//

Heap::Page* Heap::pageOf(const Object* object) {
  return reinterpret_cast<Page*>(reinterpret_cast<uintptr_t>(object) & ~(kPageBytes - 1));
}

Heap* Heap::heapOf(const Object* object) { return pageOf(object)->heap; }

template <class F>
void Heap::forEachPage(Page* chunk, F&& f) {
  for (Page* page = chunk; page != chunk->chunkEnd(); page = page->after()) {
    if (page == freshPage_) return;  // what follows was never touched
    f(page);
  }
}

Heap::Page* Heap::takePage() {
  if (Page* page = freePages_) {
    freePages_ = page->link;
    return page;
  }
  if (!freshPage_) {
    const uint64_t bytes = nextChunkBytes_;
    auto* first = static_cast<Page*>(takeFromAllocator(bytes, kPageBytes));
    if (!first) return nullptr;
    nextChunkBytes_ = std::min(2 * nextChunkBytes_, kLargestChunkBytes);
    reservedPageBytes_ += bytes;
    *first = Page{.heap = this, .chunk = first, .next = chunks_, .chunkBytes = bytes};
    chunks_ = first;
    freshPage_ = first;
    freshEnd_ = first->chunkEnd();
  }
  Page* page = freshPage_;
  freshPage_ = page->after();
  if (freshPage_ == freshEnd_) freshPage_ = freshEnd_ = nullptr;
  if (page != chunks_) *page = Page{.heap = this, .chunk = chunks_};
  return page;
}

Object* Heap::takeSmallSlow(uint32_t sizeClass) {
  const uint32_t bytes = kSizeClassBytes[sizeClass];
  available_ += bytes;  // as before the attempt
  if (!charge(bytes)) return nullptr;
  if (!free_[sizeClass]) drainRemote();
  if (!free_[sizeClass]) {
    Page* page = carving_[sizeClass];
    if (!page) {
      page = takePage();
      if (!page) {
        available_ += bytes;
        return nullptr;
      }
      page->objectBytes = bytes;
      page->sizeClass = sizeClass;
      page->carvedCount = 0;
      carving_[sizeClass] = page;
    }
    const uint32_t begin = page->carvedCount;
    const uint32_t end = std::min(page->capacity(), begin + std::max(1u, kCarveBytes / bytes));
    for (uint32_t i = end; i-- > begin;) {
      Object* object = page->object(i);
      new (&object->count) std::atomic<Count>(0);
      object->kind = ObjectKind::Free;
      object->setLink(free_[sizeClass]);
      free_[sizeClass] = object;
    }
    page->carvedCount = end;
    if (end == page->capacity()) carving_[sizeClass] = nullptr;
  }
  Object* object = free_[sizeClass];
  free_[sizeClass] = object->link();
  return object;
}

Object* Heap::allocateLarge(ObjectKind kind, uint64_t bytes, uint16_t slotCount) {
  const uint64_t total = roundToLine(64 + bytes);
  if (!charge(total)) return nullptr;
  auto* page = static_cast<Page*>(takeFromAllocator(total, kPageBytes));
  if (!page) {
    available_ += static_cast<int64_t>(total);
    return nullptr;
  }
  *page = Page{.heap = this,
               .chunk = page,
               .next = large_,
               .link = nullptr,
               .chunkBytes = total,
               .objectBytes = static_cast<uint32_t>(bytes),
               .carvedCount = 1,
               .freeCount = 0,
               .sizeClass = kLargeClass};
  if (large_) large_->link = page;
  large_ = page;
  reservedPageBytes_ += total;
  setHeader(page->object(0), kind, kLargeClass, slotCount);
  return page->object(0);
}

void Heap::giveLarge(Object* object) {
  Page* page = pageOf(object);
  (page->link ? page->link->next : large_) = page->next;
  if (page->next) page->next->link = page->link;
  const uint64_t bytes = page->chunkBytes;
  local_.release(page, bytes, kPageBytes);
  reservedPageBytes_ -= bytes;
  available_ += static_cast<int64_t>(bytes);
}

void Heap::trim() {
  drainRemote();
  for (Page* chunk = chunks_; chunk; chunk = chunk->next)
    forEachPage(chunk, [](Page* page) { page->freeCount = 0; });
  for (Object* list : free_)
    for (Object* object = list; object; object = object->link()) ++pageOf(object)->freeCount;

  const auto isEmpty = [](const Page* page) {
    return page->objectBytes == 0 || page->freeCount == page->carvedCount;
  };
  for (Object*& list : free_) {
    Object* kept = nullptr;
    for (Object* object = list; object;) {
      Object* next = object->link();
      if (!isEmpty(pageOf(object))) {
        object->setLink(kept);
        kept = object;
      }
      object = next;
    }
    list = kept;
  }
  for (Page*& page : carving_)
    if (page && isEmpty(page)) page = nullptr;

  freePages_ = nullptr;
  Page** slot = &chunks_;
  while (Page* chunk = *slot) {
    bool empty = true;
    forEachPage(chunk, [&](Page* page) { empty &= isEmpty(page); });
    if (empty) {
      *slot = chunk->next;
      if (freshEnd_ == chunk->chunkEnd()) freshPage_ = freshEnd_ = nullptr;
      reservedPageBytes_ -= chunk->chunkBytes;
      local_.release(chunk, chunk->chunkBytes, kPageBytes);
      continue;
    }
    forEachPage(chunk, [&](Page* page) {
      if (!isEmpty(page)) return;
      page->objectBytes = 0;
      page->link = freePages_;
      freePages_ = page;
    });
    slot = &chunk->next;
  }
  if (!chunks_) nextChunkBytes_ = kFirstChunkBytes;
  local_.trim();
}

void Heap::abandon() {
  drainRemote();
  const auto endPrivate = [this](Object* object) {
    if (object->kind == ObjectKind::Free || object->isShared()) return;
    // Private children are met on their own; cycles do not matter.
    for (Object* child : object->slotSpan())
      if (child && child->isShared() && dropShared(child)) destroy(child, this);
    if (object->kind != ObjectKind::Cell && needsFinish(object->kind)) finish(object, this);
    object->kind = ObjectKind::Free;
  };
  for (Page* chunk = chunks_; chunk; chunk = chunk->next)
    forEachPage(chunk, [&](Page* page) {
      for (uint32_t i = 0; page->objectBytes != 0 && i < page->carvedCount; ++i) endPrivate(page->object(i));
    });
  for (Page* page = large_; page; page = page->next) endPrivate(page->object(0));
  cells_ = nullptr;

  // Another thread may be about to free a shared object: until then it counts as shared.
  const auto release = [&](Page** list) {
    while (Page* chunk = *list) {
      bool isHeld = false;
      const auto look = [&](Page* page) {
        for (uint32_t i = 0; page->objectBytes != 0 && !isHeld && i < page->carvedCount; ++i)
          isHeld = page->object(i)->kind != ObjectKind::Free;
      };
      if (chunk->sizeClass == kLargeClass)
        look(chunk);
      else
        forEachPage(chunk, look);
      if (isHeld) {
        list = &chunk->next;
        continue;
      }
      *list = chunk->next;
      reservedPageBytes_ -= chunk->chunkBytes;
      local_.release(chunk, chunk->chunkBytes, kPageBytes);
    }
  };
  release(&chunks_);
  release(&large_);
  dropReference();
}

//===-- Objects ------------------------------------------------------------===//

Cell* Heap::allocateCell(bool isReference) {
  Cell* cell = static_cast<Cell*>(allocate(ObjectKind::Cell, sizeof(Cell), isReference ? 1 : 0));
  if (!cell) return nullptr;
  cell->previous = nullptr;
  cell->next = cells_;
  if (cells_) cells_->previous = cell;
  cells_ = cell;
  return cell;
}

Array* Heap::allocateArray(bool holdsReferences, uint32_t capacity) {
  const uint64_t elementBytes = uint64_t{8} * capacity;
  const bool isInline = sizeof(Array) + elementBytes <= kMaxSmallBytes;
  // All of the object's memory is room for elements.
  const uint32_t objectBytes =
      isInline ? kSizeClassBytes[sizeClassOf(static_cast<uint32_t>(sizeof(Array) + elementBytes))]
               : static_cast<uint32_t>(sizeof(Array));
  auto* array = static_cast<Array*>(allocate(ObjectKind::Array, objectBytes, holdsReferences ? 1 : 0));
  if (!array) return nullptr;
  array->length = 0;
  array->blockBytes = 0;
  if (isInline) {
    array->capacity = (objectBytes - static_cast<uint32_t>(sizeof(Array))) / 8;
    array->data = reinterpret_cast<uint64_t*>(array + 1);
    return array;
  }
  std::byte* data = takeBlock(elementBytes, kTensorAlignment);
  if (!data) {
    giveBack(array);
    return nullptr;
  }
  array->capacity = capacity;
  array->data = reinterpret_cast<uint64_t*>(data);
  array->blockBytes = elementBytes;
  return array;
}

bool Heap::growArray(Array*& array, uint32_t capacity) {
  Array* grown = allocateArray(array->holdsReferences(), capacity);
  if (!grown) return false;
  if (array->length != 0) std::memcpy(grown->data, array->data, uint64_t{8} * array->length);
  grown->length = array->length;
  if (array->blockBytes)
    giveBlock(reinterpret_cast<std::byte*>(array->data), array->blockBytes, kTensorAlignment);
  giveBack(array);
  array = grown;
  return true;
}

Tensor* Heap::allocateTensor(DType dtype, uint32_t device, std::span<const int64_t> extents,
                             uint64_t sizeBytes) {
  const auto rank = static_cast<uint32_t>(extents.size());
  const uint64_t headerBytes = roundToLine(tensorHeaderBytes(rank));
  Tensor* tensor;
  if (headerBytes + sizeBytes <= kMaxSmallBytes) [[likely]] {
    tensor =
        static_cast<Tensor*>(allocate(ObjectKind::Tensor, static_cast<uint32_t>(headerBytes + sizeBytes), 1));
    if (!tensor) return nullptr;
    tensor->data = reinterpret_cast<std::byte*>(tensor) + headerBytes;
    tensor->blockBytes = 0;
  } else {
    tensor = static_cast<Tensor*>(allocate(ObjectKind::Tensor, tensorHeaderBytes(rank), 1));
    if (!tensor) return nullptr;
    tensor->owner = nullptr;
    tensor->blockBytes = 0;
    std::byte* data = takeBlock(sizeBytes, kTensorAlignment);
    if (!data) {
      giveBack(tensor);
      return nullptr;
    }
    tensor->data = data;
    tensor->blockBytes = sizeBytes;
  }
  tensor->owner = nullptr;
  tensor->tag = TensorTag::pack(dtype, rank, device, 0);
  for (uint32_t i = 0; i < rank; ++i) tensor->extents()[i] = extents[i];
  return tensor;
}

Tensor* Heap::allocateView(DType dtype, uint32_t device, uint32_t rank, uint32_t flags, Object* owner,
                           std::byte* data) {
  auto* tensor = static_cast<Tensor*>(allocate(ObjectKind::Tensor, tensorHeaderBytes(rank), 1));
  if (!tensor) return nullptr;
  tensor->owner = owner;
  tensor->data = data;
  tensor->blockBytes = 0;
  tensor->tag = TensorTag::pack(dtype, rank, device, flags);
  return tensor;
}

Storage* Heap::allocateStorage(uint64_t sizeBytes, uint64_t alignment) {
  auto* storage = static_cast<Storage*>(allocate(ObjectKind::Storage, sizeof(Storage), 0));
  if (!storage) return nullptr;
  storage->release = nullptr;
  storage->context = nullptr;
  storage->alignment = std::max<uint64_t>(alignment, kTensorAlignment);
  storage->sizeBytes = sizeBytes;
  storage->blockBytes = 0;
  const uint64_t blockBytes = std::max<uint64_t>(sizeBytes, 1);
  storage->data = takeBlock(blockBytes, storage->alignment);
  if (!storage->data) {
    giveBack(storage);
    return nullptr;
  }
  storage->blockBytes = blockBytes;
  return storage;
}

Storage* Heap::adoptStorage(std::byte* data, uint64_t sizeBytes, void (*release)(void*), void* context) {
  auto* storage = static_cast<Storage*>(allocate(ObjectKind::Storage, sizeof(Storage), 0));
  if (!storage) return nullptr;
  storage->data = data;
  storage->sizeBytes = sizeBytes;
  storage->blockBytes = 0;
  storage->alignment = 1;
  storage->release = release;
  storage->context = context;
  return storage;
}

bool Heap::growTensor(Tensor* tensor, uint64_t sizeBytes, uint64_t keepBytes) {
  std::byte* data = takeBlock(sizeBytes, kTensorAlignment);
  if (!data) return false;
  std::memcpy(data, tensor->data, keepBytes);
  if (tensor->blockBytes) giveBlock(tensor->data, tensor->blockBytes, kTensorAlignment);
  tensor->data = data;
  tensor->blockBytes = sizeBytes;
  return true;
}

}  // namespace baton::vm

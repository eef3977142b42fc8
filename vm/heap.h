// The object heap of a context: size classes over pages, one free list per class, no locks
// and no atomics while one thread uses it. Shared objects may be freed by other threads and
// come back through a list; a heap lives on until the last of its shared objects is gone.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "allocators/allocator.h"
#include "base/error.h"
#include "vm/object.h"
#include "vm/retainable.h"

namespace baton::vm {

/// Small objects in steps of 16 bytes, then classes of a cache line more than common powers
/// of two: a tensor's header and its elements fit without waste.
inline constexpr uint16_t kSizeClassBytes[] = {16,  32,  48,  64,  80,   96,   112,  128,  192, 256,
                                               320, 448, 576, 832, 1088, 1600, 2112, 3136, 4160};
inline constexpr uint32_t kSizeClassCount = sizeof(kSizeClassBytes) / sizeof(kSizeClassBytes[0]);
inline constexpr uint32_t kMaxSmallBytes = 4160;
inline constexpr uint8_t kLargeClass = 255;  ///< has a page of its own

namespace detail {
struct SizeClassTable {
  uint8_t classOf[kMaxSmallBytes / 64 + 1];  // by cache lines, rounded up
  constexpr SizeClassTable() : classOf{} {
    uint32_t index = 0;
    for (uint32_t lines = 0; lines <= kMaxSmallBytes / 64; ++lines) {
      while (kSizeClassBytes[index] < lines * 64) ++index;
      classOf[lines] = static_cast<uint8_t>(index);
    }
  }
};
inline constexpr SizeClassTable kSizeClasses;
}  // namespace detail

/// `bytes` is in [1, kMaxSmallBytes].
constexpr uint32_t sizeClassOf(uint32_t bytes) {
  if (bytes <= 128) return (bytes + 15) / 16 - 1;
  return detail::kSizeClasses.classOf[(bytes + 63) / 64];
}

class Heap {
 public:
  /// `local` serves the thread that uses the heap; `remote` gives blocks back from any thread
  /// and must accept what `local` allocated. Both must live as long as `owner` does.
  static Result<Heap*> create(Allocator& local, Allocator& remote, const Retainable& owner);
  /// Ends the use by its context: everything that is not shared goes now, the rest when the
  /// last shared object is released. The heap may not be used afterwards.
  void abandon();

  // -- Objects. Null when memory is refused: failure() says why. --------------------------

  /// An object with a count of one; everything behind the first half of its header is undefined.
  Object* allocate(ObjectKind kind, uint32_t bytes, uint16_t slotCount) {
    if (bytes > kMaxSmallBytes) [[unlikely]]
      return allocateLarge(kind, bytes, slotCount);
    const uint32_t sizeClass = sizeClassOf(bytes);
    Object* object = takeSmall(sizeClass);
    if (object) [[likely]]
      setHeader(object, kind, static_cast<uint8_t>(sizeClass), slotCount);
    return object;
  }
  /// An Adt or a Closure; slots and scalars undefined. Together they are fewer than 2^17.
  Object* allocateRecord(ObjectKind kind, uint32_t tag, uint32_t slotCount, uint32_t scalarCount) {
    const uint32_t bytes = sizeof(Object) + 8 * (slotCount + scalarCount);
    Object* object = allocate(kind, bytes, static_cast<uint16_t>(slotCount));
    if (object) [[likely]]
      object->tag = tag;
    return object;
  }
  Cell* allocateCell(bool isReference);
  /// An array of length 0 with room for at least `capacity` elements, at most kMaxArrayLength.
  Array* allocateArray(bool holdsReferences, uint32_t capacity);
  /// Moves a private array to a larger one, which takes its place. False when refused.
  bool growArray(Array*& array, uint32_t capacity);
  /// Makes an object that only the caller holds private again, so that private objects may be put
  /// into it. False when it belongs to another heap.
  bool makePrivate(Object* object);
  /// A tensor with memory of its own, contents undefined. `sizeBytes` is what the extents say.
  Tensor* allocateTensor(DType dtype, uint32_t device, std::span<const int64_t> extents, uint64_t sizeBytes);
  /// A tensor that looks at memory of `owner`, whose reference it takes over on success. Extents are
  /// left to the caller. `owner` may be null for memory that outlives everything.
  Tensor* allocateView(DType dtype, uint32_t device, uint32_t rank, uint32_t flags, Object* owner,
                       std::byte* data);
  Storage* allocateStorage(uint64_t sizeBytes, uint64_t alignment);
  /// Memory of somebody else, who is told through `release` when it is not used any more.
  Storage* adoptStorage(std::byte* data, uint64_t sizeBytes, void (*release)(void*), void* context);
  /// Gives a private tensor that owns its memory a block of sizeBytes with the first keepBytes
  /// of what it held. False when refused.
  bool growTensor(Tensor* tensor, uint64_t sizeBytes, uint64_t keepBytes);

  /// Gives up a reference to an object of this or another heap.
  void release(Object* object) {
    const Count now = object->count.load(std::memory_order_relaxed);
    if (now > 1) [[likely]]
      object->count.store(now - 1, std::memory_order_relaxed);
    else
      releaseLast(object, now);
  }

  // -- Accounts ---------------------------------------------------------------------------

  uint64_t inUseBytes() const { return static_cast<uint64_t>(base_ - available_); }
  uint64_t reservedPageBytes() const { return reservedPageBytes_; }
  uint64_t peakInUseBytes() const { return peakInUse_; }
  void resetPeak() { peakInUse_ = static_cast<int64_t>(inUseBytes()); }
  /// From now on at most this much more may be in use than is now; kNoLimit: any amount.
  void setLimit(uint64_t moreBytes);
  static constexpr uint64_t kNoLimit = UINT64_MAX;
  /// Why the last allocation was refused.
  Error takeFailure();
  /// Gives pages without objects back.
  void trim();
  /// Takes in what other threads freed.
  void drainRemote();

  Cell* cells() const { return cells_; }
  Allocator& allocator() { return local_; }

  // -- Sharing (vm/share.h) ---------------------------------------------------------------

  /// `count` more objects of this heap have become shared: they keep it alive.
  void addShared(uint64_t count) {
    references_.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
  }
  /// Releases a shared object from a thread that uses no heap.
  static void releaseShared(Object* object);

  struct Page;
  static Heap* heapOf(const Object* object);

 private:
  Heap(Allocator& local, Allocator& remote, const Retainable& owner);
  ~Heap();

  Object* takeSmall(uint32_t sizeClass) {
    Object* object = free_[sizeClass];
    available_ -= kSizeClassBytes[sizeClass];
    if (!object || available_ < 0) [[unlikely]]
      return takeSmallSlow(sizeClass);
    free_[sizeClass] = object->link();
    return object;
  }
  void giveSmall(Object* object) {
    const uint32_t sizeClass = object->sizeClass;
    available_ += kSizeClassBytes[sizeClass];
    object->kind = ObjectKind::Free;
    object->setLink(free_[sizeClass]);
    free_[sizeClass] = object;
  }
  static void setHeader(Object* object, ObjectKind kind, uint8_t sizeClass, uint16_t slotCount) {
    // One store: the fields of the first half, in order.
    const uint64_t header = uint64_t{1} | static_cast<uint64_t>(kind) << 32 | uint64_t{sizeClass} << 40 |
                            uint64_t{slotCount} << 48;
    std::memcpy(static_cast<void*>(object), &header, sizeof header);
  }
  Object* takeSmallSlow(uint32_t sizeClass);
  Object* allocateLarge(ObjectKind kind, uint64_t bytes, uint16_t slotCount);
  void giveBack(Object* object);
  void giveLarge(Object* object);
  void refuse(uint64_t bytes);
  bool charge(uint64_t bytes);
  void* takeFromAllocator(uint64_t bytes, uint64_t alignment);
  std::byte* takeBlock(uint64_t bytes, uint64_t alignment);
  void giveBlock(std::byte* data, uint64_t bytes, uint64_t alignment);
  template <class F>
  void forEachPage(Page* chunk, F&& f);
  Page* takePage();

  void releaseLast(Object* object, Count seen);
  /// The object's count has reached zero; null heap: the thread uses none.
  static void destroy(Object* object, Heap* self);
  static bool dropShared(Object* object);
  static void finish(Object* object, Heap* self);
  void freeRemotely(Object* object);
  void dropReference();
  static Page* pageOf(const Object* object);

  Object* free_[kSizeClassCount] = {};
  int64_t available_ = INT64_MAX / 2;  // bytes until the limit
  int64_t base_ = INT64_MAX / 2;       // available_ + in use
  Cell* cells_ = nullptr;
  Page* carving_[kSizeClassCount] = {};  // the page of each class that has objects never used
  Page* freePages_ = nullptr;
  Page* freshPage_ = nullptr;  // pages of the newest chunk that were never touched: [freshPage_, freshEnd_)
  Page* freshEnd_ = nullptr;
  Page* chunks_ = nullptr;  // their first pages
  Page* large_ = nullptr;   // pages of large objects
  uint64_t reservedPageBytes_ = 0;
  uint64_t nextChunkBytes_;
  int64_t peakInUse_ = 0;
  std::optional<Error> failure_;
  Allocator& local_;
  Allocator& remote_;
  const Retainable& owner_;

  // Other threads write below this line.
  alignas(64) std::atomic<Object*> remoteFree_{nullptr};
  std::atomic<int64_t> remoteBlockBytes_{0};  // of blocks that other threads gave back
  std::atomic<int64_t> references_{1};        // the context, and every shared object
};

}  // namespace baton::vm

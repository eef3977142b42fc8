// The frames of one call: two banks of registers, each a chain of segments that grows as
// the program recurses. Reference slots above the top are null, always.
#pragma once

#include <cstdint>

#include "allocators/allocator.h"
#include "base/error.h"
#include "vm/object.h"

namespace baton::vm {

/// What entering a function needs to know; one for each function, in order.
struct FunctionCode {
  const uint64_t* code;
  uint32_t scalarCount;  ///< registers, which is the window of a frame
  uint32_t referenceCount;
  uint32_t scalarNeed;  ///< window and what tail calls stage above it
  uint32_t referenceNeed;
};

/// Words below the scalars of a frame.
struct FrameRecord {
  uint64_t* callerScalars;  ///< bits 0..2: FrameFlag
  Object** callerReferences;
  const uint16_t* results;  ///< operands of the caller's instruction that take the results; null: none
  const FunctionCode* function;

  static constexpr uint32_t kWords = 4;
  static FrameRecord& of(uint64_t* scalars) { return *reinterpret_cast<FrameRecord*>(scalars - kWords); }
};
static_assert(sizeof(FrameRecord) == 8 * FrameRecord::kWords);

/// What leaving a frame has to do beside going back; kept in the low bits of callerScalars.
enum FrameFlag : uintptr_t {
  kFrameBeginsScalars = 1,  ///< its window is the first of a segment
  kFrameBeginsReferences = 2,
  kFrameIsOutermost = 4,
  kFrameFlags = 7,
};

/// Segments that calls of one context pass on to each other.
class SegmentCache {
 public:
  explicit SegmentCache(Allocator& allocator) : allocator_(allocator) {}
  ~SegmentCache() { trim(); }
  SegmentCache(const SegmentCache&) = delete;
  SegmentCache& operator=(const SegmentCache&) = delete;
  void trim();

 private:
  friend class StackBank;
  Allocator& allocator_;
  struct Entry {
    Entry* next;
  };
  Entry* free_[2] = {};  // of the standard size; the words of bank 1 are null
  uint32_t count_[2] = {};
};

/// One bank: words in segments.
class StackBank {
 public:
  struct Segment {
    Segment* previous;
    uint64_t bytes;
    uint64_t* begin() { return reinterpret_cast<uint64_t*>(this + 1); }
    uint64_t* end() { return reinterpret_cast<uint64_t*>(reinterpret_cast<std::byte*>(this) + bytes); }
  };

  /// Words of the reference bank are kept null while they are not in use.
  StackBank(SegmentCache& cache, bool isReferences) : cache_(cache), isReferences_(isReferences) {}
  ~StackBank();
  StackBank(const StackBank&) = delete;
  StackBank& operator=(const StackBank&) = delete;

  /// A new segment with room for `words`, after which begin() and end() are its own. `usedBytes` and
  /// the limit are of both banks.
  Result<void> push(uint64_t words, uint64_t usedBytes, uint64_t limitBytes);
  void pop();
  /// Gives up the segment under the top one.
  void dropBelowTop();
  uint64_t* begin() { return top_->begin(); }
  uint64_t* end() { return top_->end(); }
  bool isEmpty() const { return top_ == nullptr; }
  uint64_t totalBytes() const { return totalBytes_; }

 private:
  void give(Segment* segment);

  SegmentCache& cache_;
  const bool isReferences_;
  Segment* top_ = nullptr;
  Segment* spare_ = nullptr;  // the one left last, so that a call at a boundary does not allocate every time
  uint64_t totalBytes_ = 0;   // of segments in use
};

}  // namespace baton::vm

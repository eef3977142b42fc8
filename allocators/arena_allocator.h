// Leaf: blocks are cut off one after the other and given back all at once. For what lives
// as long as one call, and for the scratch memory of one kernel.
#pragma once

#include <vector>

#include "allocators/allocator.h"

namespace baton {

/// One thread at a time.
class ArenaAllocator final : public Allocator {
 public:
  static constexpr size_t kDefaultChunkBytes = 64 * 1024;

  /// Chunks come from `upstream`, which outlives the arena; the first has at least
  /// `chunkBytes`, later ones as much as all before together.
  explicit ArenaAllocator(Allocator& upstream, size_t chunkBytes = kDefaultChunkBytes);
  ~ArenaAllocator() override;

  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  /// Only the block that was allocated last makes room; the others wait until nothing is in
  /// use, or for reset().
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override;

  /// Where the arena stands. What is allocated afterwards can be given back in one step.
  struct Mark {
    size_t chunk = 0;
    size_t usedBytes = 0;
    uint64_t inUseBytes = 0;
    uint64_t openBlocks = 0;
  };
  Mark mark() const;
  /// Gives back everything that was allocated since `mark`; blocks must not be used again.
  void rewind(const Mark& mark);
  /// Gives back everything. When it took several chunks, they become one that holds the
  /// peak, so that the next round asks nobody.
  void reset();

  /// Returns chunks that hold nothing.
  void trim() noexcept override;
  MemoryStatistics statistics() const override;

 private:
  struct Chunk {
    std::byte* data;
    size_t sizeBytes;
    size_t usedBytes;
  };

  Result<void*> allocateFromNextChunk(size_t sizeBytes, size_t alignment);
  void* cut(Chunk& chunk, size_t sizeBytes, size_t alignment);
  void dropChunksFrom(size_t first);

  Allocator& upstream_;
  const size_t chunkBytes_;
  size_t nextChunkBytes_;
  std::vector<Chunk> chunks_;
  size_t current_ = 0;       // chunks after it are empty
  uint64_t openBlocks_ = 0;  // allocated and neither released nor rewound
  uint64_t spanBytes_ = 0;   // what the chunks hold, padding included
  uint64_t peakSpanBytes_ = 0;
  MemoryStatistics statistics_;
};

}  // namespace baton

// The sizes of blocks that a pool hands out. Steps grow with the size, so that a block of
// more than 128 bytes is larger than what was asked by a small part of it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace baton {

/// The pool's own page, the unit of runs; smaller than the machine's, so that a block of a
/// few KiB is a run and not one of several that pin a slab.
inline constexpr size_t kPageBytes = 1024;

/// Class numbers: multiples of 16 up to 512 and eight steps a doubling up to 4 KiB are cut
/// from slabs; multiples of 1 KiB up to 64 KiB and of 4 KiB up to 256 KiB are runs of pages.
struct PoolSizeClass {
  static constexpr size_t kStep = 16;
  static constexpr size_t kLinearBytes = 512;
  static constexpr size_t kSlabBytes = 4096;
  static constexpr size_t kFineBytes = 64 * 1024;
  static constexpr size_t kCoarseStep = 4096;
  static constexpr size_t kMaxBytes = 256 * 1024;

  static constexpr uint32_t kLinearCount = kLinearBytes / kStep;
  static constexpr uint32_t kSlabCount = kLinearCount + 3 * 8;  ///< classes cut from slabs
  static constexpr uint32_t kFineEnd = kSlabCount + (kFineBytes - kSlabBytes) / kPageBytes;
  static constexpr uint32_t kCount = kFineEnd + (kMaxBytes - kFineBytes) / kCoarseStep;

  /// Blocks of every class that is asked with an alignment of 64 start on such a boundary.
  static constexpr size_t kMaxAlignment = 64;

  /// The class for 1 <= sizeBytes <= kMaxBytes, sizeBytes a multiple of the alignment.
  static constexpr uint32_t of(size_t sizeBytes) {
    const size_t last = sizeBytes - 1;
    if (sizeBytes <= kLinearBytes) return static_cast<uint32_t>(last / kStep);
    if (sizeBytes <= kSlabBytes) {
      // The top bits below the leading one number the step within the doubling.
      const int log = std::bit_width(last) - 1;
      return kLinearCount + static_cast<uint32_t>(log - 9) * 8 +
             static_cast<uint32_t>((last >> (log - 3)) - 8);
    }
    if (sizeBytes <= kFineBytes) return kSlabCount + static_cast<uint32_t>((last - kSlabBytes) / kPageBytes);
    return kFineEnd + static_cast<uint32_t>((last - kFineBytes) / kCoarseStep);
  }

  static constexpr size_t blockBytes(uint32_t number) {
    if (number < kLinearCount) return (number + 1) * kStep;
    if (number >= kFineEnd) return kFineBytes + (number - kFineEnd + 1) * kCoarseStep;
    if (number >= kSlabCount) return kSlabBytes + (number - kSlabCount + 1) * kPageBytes;
    const uint32_t step = number - kLinearCount;
    return (size_t{step % 8 + 9} << (step / 8 + 9)) / 8;
  }

  /// Pages of one slab.
  static constexpr size_t slabPages(uint32_t number) {
    const size_t block = blockBytes(number);
    return block <= kLinearBytes ? 4 : (block * 4 + kPageBytes - 1) / kPageBytes;
  }
};

}  // namespace baton

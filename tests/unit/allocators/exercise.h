// Blocks with a pattern in them, and a random sequence of requests that checks it.
#pragma once

#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "allocators/allocator.h"

namespace baton {

struct Block {
  std::byte* data = nullptr;
  size_t sizeBytes = 0;
  size_t alignment = 1;
  std::byte pattern{};
};

inline Block take(Allocator& allocator, size_t sizeBytes, size_t alignment, uint8_t pattern) {
  Result<void*> data = allocator.allocate(sizeBytes, alignment);
  if (!data.has_value()) throw std::runtime_error(data.error().message());
  Block block{static_cast<std::byte*>(data.value()), sizeBytes, alignment, std::byte{pattern}};
  std::memset(block.data, pattern, sizeBytes);
  return block;
}

inline bool isIntact(const Block& block) {
  for (size_t i = 0; i < block.sizeBytes; ++i)
    if (block.data[i] != block.pattern) return false;
  return true;
}

inline void give(Allocator& allocator, const Block& block) {
  allocator.release(block.data, block.sizeBytes, block.alignment);
}

// Takes and gives back at random, checking contents; returns false when some were damaged.
inline bool exercise(Allocator& allocator, uint32_t seed, int steps) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  bool intact = true;
  for (int step = 0; step < steps; ++step) {
    if (blocks.size() < 150 && (blocks.empty() || random() % 5 < 3)) {
      const uint32_t bits = random() % 18;
      const size_t size = random() % (size_t{2} << bits);
      const auto fill = static_cast<uint8_t>(random());
      const size_t alignment = size_t{1} << random() % 8;
      blocks.push_back(take(allocator, size, alignment, fill));
    } else {
      const size_t index = random() % blocks.size();
      intact = intact && isIntact(blocks[index]);
      give(allocator, blocks[index]);
      blocks[index] = blocks.back();
      blocks.pop_back();
    }
  }
  for (const Block& block : blocks) {
    intact = intact && isIntact(block);
    give(allocator, block);
  }
  return intact;
}

}  // namespace baton

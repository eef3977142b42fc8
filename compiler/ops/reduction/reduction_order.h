// The order of float sums and products, written down once more, as plainly as possible: the
// reference versions use this one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace baton::ops {

/// The stated order, on a list of numbers: blocks of 4096, 64 partials in each, blocks
/// combined pairwise as soon as two of one size are neighbours.
template <class T, class Combine>
T reduceInOrder(const std::vector<T>& values, T identity, Combine&& combine) {
  struct Block {
    T value;
    int level;
  };
  std::vector<Block> blocks;
  for (size_t start = 0; start < values.size(); start += 4096) {
    std::array<T, 64> partials;
    partials.fill(identity);
    const size_t end = std::min(values.size(), start + 4096);
    for (size_t i = start; i < end; ++i)
      partials[(i - start) % 64] = combine(partials[(i - start) % 64], values[i]);
    for (size_t half = 32; half > 0; half /= 2)
      for (size_t j = 0; j < half; ++j) partials[j] = combine(partials[j], partials[j + half]);
    blocks.push_back({partials[0], 0});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].level == blocks.back().level) {
      const T right = blocks.back().value;
      blocks.pop_back();
      blocks.back() = {combine(blocks.back().value, right), blocks.back().level + 1};
    }
  }
  if (blocks.empty()) return identity;
  T result = blocks.back().value;
  for (size_t i = blocks.size() - 1; i-- > 0;) result = combine(blocks[i].value, result);
  return result;
}

}  // namespace baton::ops

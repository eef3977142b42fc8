// Threefry and its keys on numbers, for the reference versions.
#pragma once

#include <array>
#include <cstdint>

namespace baton::ops {

using ThreefryKey = std::array<uint64_t, 10>;
using ThreefryBlock = std::array<uint64_t, 4>;

/// Four words of 64 bits in 20 rounds, of which every four begin with an injection of the key.
ThreefryBlock plainThreefry(const ThreefryBlock& key, ThreefryBlock words);

/// The key from which `count` elements are made.
ThreefryKey plainReadyKey(const ThreefryKey& key, uint64_t count);
/// Element `i` of them.
uint64_t plainRandomBits(const ThreefryKey& ready, uint64_t count, uint64_t i);
ThreefryKey plainNextKey(const ThreefryKey& ready, uint64_t count);
ThreefryKey plainSplitKey(const ThreefryKey& key, bool isRight);

}  // namespace baton::ops

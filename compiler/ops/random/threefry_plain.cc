#include "compiler/ops/random/threefry_plain.h"

#include <bit>

namespace baton::ops {

namespace {

ThreefryBlock keyWords(const ThreefryKey& key) { return {key[0], key[1], key[2], key[3]}; }
bool hasLongPath(const ThreefryKey& key) { return key[8] == 0 && key[9] == 0; }
void moveOn(ThreefryKey& key) {
  key[9] = key[9] >> 1 | key[8] << 63;
  key[8] >>= 1;
}

}  // namespace

ThreefryBlock plainThreefry(const ThreefryBlock& key, ThreefryBlock x) {
  constexpr int kRotations[8][2] = {{14, 16}, {52, 57}, {23, 40}, {5, 37},
                                    {25, 33}, {46, 12}, {58, 22}, {32, 32}};
  const uint64_t all[5] = {key[0], key[1], key[2], key[3],
                           key[0] ^ key[1] ^ key[2] ^ key[3] ^ 0x1BD11BDAA9FC1A22};
  for (uint64_t round = 0; round < 20; ++round) {
    if (round % 4 == 0) {
      const uint64_t injection = round / 4;
      for (size_t i = 0; i < 4; ++i) x[i] += all[(injection + i) % 5];
      x[3] += injection;
    }
    x[0] += x[1];
    x[2] += x[3];
    const uint64_t first = std::rotl(x[1], kRotations[round % 8][0]) ^ x[0];
    const uint64_t second = std::rotl(x[3], kRotations[round % 8][1]) ^ x[2];
    x[1] = second;
    x[3] = first;
  }
  return x;
}

ThreefryKey plainReadyKey(const ThreefryKey& key, uint64_t count) {
  if (key[7] < UINT64_MAX - count) return key;
  if (hasLongPath(key)) {
    const ThreefryBlock seed = plainThreefry(keyWords(key), {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX});
    return {seed[0], seed[1], seed[2], seed[3], 0, 0, 0, 0, uint64_t{1} << 63, 0};
  }
  ThreefryKey next = key;
  next[4] |= key[8];
  next[5] |= key[9];
  next[6] = 0;
  next[7] = 0;
  moveOn(next);
  return next;
}

uint64_t plainRandomBits(const ThreefryKey& ready, uint64_t count, uint64_t i) {
  const uint64_t block = i / 4;
  ThreefryBlock counter = {ready[4], ready[5], ready[6], ready[7]};
  if (block < count / 4)
    for (uint64_t& word : counter) word += block;
  else
    counter[3] += 4 * block;
  return plainThreefry(keyWords(ready), counter)[i % 4];
}

ThreefryKey plainNextKey(const ThreefryKey& ready, uint64_t count) {
  ThreefryKey next = ready;
  next[6] = 0;
  next[7] += (count + 3) / 4 * 4;
  return next;
}

ThreefryKey plainSplitKey(const ThreefryKey& key, bool isRight) {
  if (hasLongPath(key)) {
    const ThreefryBlock seed = plainThreefry(keyWords(key), {key[4], key[5], key[6], key[7]});
    const uint64_t path = isRight ? uint64_t{1} << 63 : 0;
    return {seed[0], seed[1], seed[2], seed[3], path, 0, 0, 0, uint64_t{1} << 62, 0};
  }
  ThreefryKey out = key;
  if (isRight) out[4] |= key[8];
  if (isRight) out[5] |= key[9];
  moveOn(out);
  return out;
}

}  // namespace baton::ops

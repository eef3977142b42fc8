// How many random cases a test runs: a few by default, always the same ones. With
// BATON_TEST_ROUNDS=N there are N times as many, with BATON_TEST_SEED=S other ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "tests/effort.h"

namespace baton::ops::test {

struct Rounds {
  uint64_t first = 0;
  uint64_t count = 0;
};

inline Rounds rounds(uint64_t usual) {
  const char* times = std::getenv("BATON_TEST_ROUNDS");
  const char* seed = std::getenv("BATON_TEST_SEED");
  const uint64_t factor = times == nullptr ? 1 : std::strtoull(times, nullptr, 10);
  const uint64_t some = effort(usual, std::max<uint64_t>(usual / 15, 1));
  return {seed == nullptr ? 0 : std::strtoull(seed, nullptr, 10) * 1'000'000, some * factor};
}

}  // namespace baton::ops::test

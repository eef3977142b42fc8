#include "base/checked_math.h"

#include <catch2/catch.hpp>

#include <limits>
#include <vector>

namespace baton {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr uint64_t kMostUnsigned = std::numeric_limits<uint64_t>::max();

TEST_CASE("checked sums, differences and products are exact or nothing") {
  CHECK(checkedAdd<int64_t>(2, 3) == 5);
  CHECK(checkedAdd<int64_t>(kMost, 0) == kMost);
  CHECK(checkedAdd<int64_t>(kMost, 1) == std::nullopt);
  CHECK(checkedAdd<int64_t>(kLeast, -1) == std::nullopt);
  CHECK(checkedAdd<uint64_t>(kMostUnsigned, 1) == std::nullopt);
  CHECK(checkedAdd<uint8_t>(250, 5) == 255);
  CHECK(checkedAdd<uint8_t>(250, 6) == std::nullopt);

  CHECK(checkedSub<int64_t>(2, 3) == -1);
  CHECK(checkedSub<int64_t>(kLeast, 1) == std::nullopt);
  CHECK(checkedSub<int64_t>(0, kLeast) == std::nullopt);
  CHECK(checkedSub<uint64_t>(2, 3) == std::nullopt);
  CHECK(checkedSub<uint64_t>(3, 3) == 0u);

  CHECK(checkedMul<int64_t>(-4, 3) == -12);
  CHECK(checkedMul<int64_t>(kMost, 0) == 0);
  CHECK(checkedMul<int64_t>(kLeast, 1) == kLeast);
  CHECK(checkedMul<int64_t>(kLeast, -1) == std::nullopt);
  CHECK(checkedMul<int64_t>(int64_t{1} << 32, int64_t{1} << 31) == std::nullopt);
  CHECK(checkedMul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 31) == uint64_t{1} << 63);
}

TEST_CASE("the element count of a shape is exact or nothing") {
  const auto count = [](const std::vector<int64_t>& extents) { return checkedElementCount(extents); };
  CHECK(count({}) == 1);
  CHECK(count({5}) == 5);
  CHECK(count({2, 3, 4}) == 24);
  CHECK(count({1, 1}) == 1);
  CHECK(count({0}) == 0);
  CHECK(count({kMost, kMost, 0}) == 0);
  CHECK(count({0, kMost, kMost}) == 0);
  CHECK(count({kMost, 1}) == kMost);
  CHECK(count({kMost, 2}) == std::nullopt);
  CHECK(count({-1}) == std::nullopt);
  CHECK(count({0, -1}) == std::nullopt);
}

TEST_CASE("sizes are rounded up to an alignment, or nothing") {
  CHECK(checkedAlignUp(0, 64) == 0u);
  CHECK(checkedAlignUp(1, 64) == 64u);
  CHECK(checkedAlignUp(64, 64) == 64u);
  CHECK(checkedAlignUp(65, 64) == 128u);
  CHECK(checkedAlignUp(7, 1) == 7u);
  CHECK(checkedAlignUp(kMostUnsigned - 63, 64) == kMostUnsigned - 63);
  CHECK(checkedAlignUp(kMostUnsigned - 62, 64) == std::nullopt);
  CHECK(checkedAlignUp(kMostUnsigned, 1) == kMostUnsigned);
}

}  // namespace
}  // namespace baton

// What every allocator promises, asked of all of them.
#include <catch2/catch.hpp>

#include "tests/effort.h"
#include "tests/unit/allocators/allocator_stacks.h"
#include "tests/unit/allocators/exercise.h"

namespace baton {
namespace {

TEST_CASE("blocks of every size are aligned as asked, and hold their contents") {
  const std::string name = GENERATE(from_range(allocatorStackNames()));
  INFO(name);
  AllocatorStack stack(name);
  Allocator& allocator = stack.top();
  std::vector<Block> blocks;
  uint8_t pattern = 0;
  for (const size_t size : {0,    1,    7,    16,   63,    64,    65,     100,    512,    513,    1024,
                            4095, 4096, 4097, 5000, 32768, 32769, 100000, 262144, 262145, 1 << 20})
    for (const size_t alignment : {1, 2, 8, 16, 32, 64, 128, 1024, 4096, 8192}) {
      blocks.push_back(take(allocator, size, alignment, ++pattern));
      const bool aligned = reinterpret_cast<uintptr_t>(blocks.back().data) % alignment == 0;
      CHECK(aligned);
      CHECK(blocks.back().data != nullptr);
    }
  bool intact = true;
  for (const Block& block : blocks) intact = intact && isIntact(block);
  CHECK(intact);
  for (const Block& block : blocks) give(allocator, block);
  CHECK(allocator.statistics().inUseBytes == 0);
}

TEST_CASE("a request that no machine can serve is refused and changes nothing") {
  const std::string name = GENERATE(from_range(allocatorStackNames()));
  INFO(name);
  AllocatorStack stack(name);
  Allocator& allocator = stack.top();
  const Block before = take(allocator, 1000, 64, 7);
  const MemoryStatistics statistics = allocator.statistics();
  for (const size_t size :
       {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX - 4096, size_t{1} << 63, (size_t{1} << 63) - 1, size_t{1} << 48}) {
    for (const size_t alignment : {size_t{1}, size_t{64}, size_t{4096}, size_t{1} << 20}) {
      const Result<void*> data = allocator.allocate(size, alignment);
      REQUIRE(!data.has_value());
      const ErrorCode code = data.error().code();
      const bool refused = code == ErrorCode::OutOfMemory || code == ErrorCode::LimitReached;
      CHECK(refused);
      INFO(data.error().message());
      CHECK(data.error().message().find("cannot allocate " + std::to_string(size) + " bytes: ") == 0);
    }
  }
  CHECK(allocator.statistics().inUseBytes == statistics.inUseBytes);
  CHECK(allocator.statistics().allocationCount == statistics.allocationCount);
  CHECK(isIntact(before));
  give(allocator, before);
  give(allocator, take(allocator, 1000, 64, 8));
}

TEST_CASE("interleaved requests never overlap, and statistics add up") {
  const std::string name = GENERATE(from_range(allocatorStackNames()));
  INFO(name);
  AllocatorStack stack(name);
  Allocator& allocator = stack.top();
  CHECK(exercise(allocator, 1, effort(5000, 700)));
  const MemoryStatistics statistics = allocator.statistics();
  CHECK(statistics.inUseBytes == 0);
  CHECK(statistics.allocationCount == statistics.releaseCount);
  CHECK(statistics.allocationCount > effort<uint64_t>(2000, 280));
  CHECK(statistics.peakInUseBytes > 0);
  CHECK(statistics.peakInUseBytes <= statistics.peakReservedBytes);
  CHECK(statistics.reservedBytes <= statistics.peakReservedBytes);
  CHECK(statistics.cacheHitCount <= statistics.allocationCount);

  const Block one = take(allocator, 100, 64, 1);
  const Block two = take(allocator, 28, 4, 2);
  CHECK(allocator.statistics().inUseBytes == 128);
  CHECK(allocator.statistics().reservedBytes >= 128);
  give(allocator, one);
  CHECK(allocator.statistics().inUseBytes == 28);
  give(allocator, two);
}

TEST_CASE("after trim nothing unused is reserved, and the allocator still works") {
  const std::string name = GENERATE(from_range(allocatorStackNames()));
  INFO(name);
  AllocatorStack stack(name);
  Allocator& allocator = stack.top();
  for (int round = 0; round < 3; ++round) {
    const Block kept = take(allocator, 100, 64, 9);
    CHECK(exercise(allocator, static_cast<uint32_t>(round), effort(1000, 150)));
    allocator.trim();
    CHECK(isIntact(kept));
    CHECK(allocator.statistics().reservedBytes >= 100);
    give(allocator, kept);
    allocator.trim();
    CHECK(allocator.statistics().reservedBytes == 0);
  }
}

TEST_CASE("a steady state asks the system for nothing") {
  const std::string name =
      GENERATE(std::string("front/backend/system"), std::string("backend/system"),
               std::string("arena/system"), std::string("limiting1/front/backend/system"));
  INFO(name);
  AllocatorStack stack(name);
  Allocator& allocator = stack.top();
  uint64_t asked = 0;
  for (int round = 0; round < 40; ++round) {
    CHECK(exercise(allocator, 5, effort(2000, 200)));
    if (auto* arena = dynamic_cast<ArenaAllocator*>(&allocator)) arena->reset();
    if (round == 29) asked = allocator.statistics().systemAllocationCount;
  }
  CHECK(asked > 0);
  CHECK(allocator.statistics().systemAllocationCount == asked);
}

}  // namespace
}  // namespace baton

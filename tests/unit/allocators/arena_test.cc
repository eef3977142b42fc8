#include "allocators/arena_allocator.h"

#include <catch2/catch.hpp>

#include "allocators/cpu_device.h"
#include "allocators/failing_allocator.h"
#include "allocators/system_allocator.h"

namespace baton {
namespace {

struct Arena {
  CpuDevice device;
  SystemAllocator system{device};
  FailingAllocator failing{system};
  ArenaAllocator arena{failing, 1024};
};

TEST_CASE("an arena cuts blocks one after the other") {
  Arena a;
  auto* first = static_cast<std::byte*>(a.arena.allocate(10, 1).value());
  auto* second = static_cast<std::byte*>(a.arena.allocate(20, 16).value());
  CHECK(second - first == 16);
  // The last block makes room.
  a.arena.release(second, 20, 16);
  CHECK(a.arena.allocate(30, 16).value() == second);
  CHECK(a.arena.statistics().systemAllocationCount == 1);
}

TEST_CASE("rewinding gives back what came after the mark") {
  Arena a;
  void* kept = a.arena.allocate(100, 64).value();
  const ArenaAllocator::Mark mark = a.arena.mark();
  void* scratch = a.arena.allocate(200, 64).value();
  (void)a.arena.allocate(5000, 64).value();  // in a chunk of its own
  CHECK(a.arena.statistics().inUseBytes == 5300);
  a.arena.rewind(mark);
  CHECK(a.arena.statistics().inUseBytes == 100);
  CHECK(a.arena.allocate(200, 64).value() == scratch);
  CHECK(kept != scratch);
  a.arena.reset();
  CHECK(a.arena.statistics().inUseBytes == 0);
  CHECK(a.arena.statistics().allocationCount == a.arena.statistics().releaseCount);
}

TEST_CASE("several chunks become one that fits after a reset") {
  Arena a;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 100; ++i) REQUIRE(a.arena.allocate(1000, 64).has_value());
    a.arena.reset();
  }
  const uint64_t asked = a.arena.statistics().systemAllocationCount;
  for (int i = 0; i < 100; ++i) REQUIRE(a.arena.allocate(1000, 64).has_value());
  a.arena.reset();
  CHECK(a.arena.statistics().systemAllocationCount == asked);
  CHECK(a.arena.statistics().reservedBytes < 115000);
  a.arena.trim();
  CHECK(a.arena.statistics().reservedBytes == 0);
  CHECK(a.system.statistics().inUseBytes == 0);
}

TEST_CASE("a refusal below is retried once and then an error that leaves the arena usable") {
  Arena a;
  REQUIRE(a.arena.allocate(100, 64).has_value());
  a.failing.refuse(1, FailingAllocator::Mode::FromThenOn);
  const Result<void*> refused = a.arena.allocate(5000, 64);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code() == ErrorCode::OutOfMemory);
  CHECK(refused.error().message().find("cannot allocate 5000 bytes: 100 in use, 1024 reserved") == 0);
  REQUIRE(a.arena.allocate(100, 64).has_value());
  a.failing.refuse(1);
  REQUIRE(a.arena.allocate(5000, 64).has_value());
  CHECK(a.failing.requestCount() == 2);
}

}  // namespace
}  // namespace baton

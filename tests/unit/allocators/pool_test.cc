#include "allocators/pool_allocator.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/unit/allocators/allocator_stacks.h"

namespace baton {
namespace {

TEST_CASE("size classes cover every size with bounded waste") {
  for (uint32_t i = 0; i < PoolSizeClass::kCount; ++i) {
    const size_t block = PoolSizeClass::blockBytes(i);
    CHECK(PoolSizeClass::of(block) == i);
    if (i > 0) {
      const size_t before = PoolSizeClass::blockBytes(i - 1);
      CHECK(before < block);
      CHECK(PoolSizeClass::of(before + 1) == i);
      if (before >= 128) CHECK(block - before <= before / 4);
      if (before > PoolSizeClass::kFineBytes) CHECK(block - before <= before / 16);
    }
    if (block > PoolSizeClass::kLinearBytes) CHECK(block % PoolSizeClass::kMaxAlignment == 0);
    if (i < PoolSizeClass::kSlabCount) {
      const size_t blocks = PoolSizeClass::slabPages(i) * kPageBytes / block;
      CHECK(blocks >= 4);
      CHECK(blocks <= PoolSlab::kMaxBlocks);
    }
  }
  CHECK(PoolSizeClass::blockBytes(PoolSizeClass::kCount - 1) == PoolSizeClass::kMaxBytes);
}

struct Pool {
  CpuDevice device;
  SystemAllocator system{device};
  LimitingAllocator limit{system, LimitingAllocator::kUnlimited};
  FailingAllocator failing{limit};
  PoolBackend backend{failing};
};

TEST_CASE("what a front gave back is the first that it hands out again") {
  Pool pool;
  PoolAllocator front(pool.backend);
  for (const size_t size : {24, 64, 1000, 40000, 300000}) {
    void* first = front.allocate(size, 64).value();
    front.release(first, size, 64);
    const uint64_t hits = front.statistics().cacheHitCount;
    CHECK(front.allocate(size, 64).value() == first);
    CHECK(front.statistics().cacheHitCount == hits + 1);
    front.release(first, size, 64);
  }
}

TEST_CASE("neighbouring runs of pages merge") {
  Pool pool;
  PoolAllocator front(pool.backend, {.cacheBytes = 0});
  const size_t size = 300000;
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(front.allocate(size, 64).value());
  const uint64_t reserved = pool.backend.statistics().reservedBytes;
  for (const int i : {1, 3, 5, 7, 0, 2, 4, 6}) front.release(blocks[static_cast<size_t>(i)], size, 64);
  CHECK(pool.backend.statistics().reservedBytes == reserved);
  front.trim();
  CHECK(pool.backend.statistics().reservedBytes == 0);
  CHECK(pool.system.statistics().inUseBytes == 0);
}

TEST_CASE("memory of one size serves another") {
  Pool pool;
  PoolAllocator front(pool.backend);
  uint64_t reserved = 0;
  for (const size_t size : {size_t{64}, size_t{1 << 20}, size_t{5000}, size_t{70000}, size_t{256}}) {
    std::vector<void*> blocks;
    for (size_t taken = 0; taken < (4 << 20); taken += size)
      blocks.push_back(front.allocate(size, 64).value());
    for (void* block : blocks) front.release(block, size, 64);
    if (reserved == 0) reserved = pool.backend.statistics().reservedBytes;
  }
  // 4 MiB of each in turn, with the waste of classes, slabs and growth
  CHECK(reserved < (4 << 20) * 11 / 10);
  CHECK(pool.backend.statistics().peakReservedBytes < (4 << 20) * 13 / 10);
}

TEST_CASE("reserved memory stays close to the peak") {
  Pool pool;
  PoolAllocator front(pool.backend);
  std::mt19937 random(2);
  struct Block {
    void* data;
    size_t size;
  };
  std::vector<Block> blocks;
  for (int step = 0; step < 20000; ++step) {
    if (blocks.size() < 60 && random() % 2) {
      const size_t size = 1 + random() % (1 << 19);
      blocks.push_back({front.allocate(size, 64).value(), size});
    } else if (!blocks.empty()) {
      const size_t index = random() % blocks.size();
      front.release(blocks[index].data, blocks[index].size, 64);
      blocks[index] = blocks.back();
      blocks.pop_back();
    }
  }
  const uint64_t peak = front.statistics().peakInUseBytes;
  CHECK(static_cast<double>(pool.backend.statistics().peakReservedBytes) < 1.6 * static_cast<double>(peak));
  for (const Block& block : blocks) front.release(block.data, block.size, 64);
}

TEST_CASE("blocks may be given back to another front or to the backend") {
  Pool pool;
  auto first = std::make_unique<PoolAllocator>(pool.backend);
  PoolAllocator second(pool.backend);
  for (const size_t size : {size_t{0}, size_t{100}, size_t{50000}, size_t{1 << 20}}) {
    void* toSecond = first->allocate(size, 64).value();
    void* toBackend = first->allocate(size, 64).value();
    second.release(toSecond, size, 64);
    pool.backend.release(toBackend, size, 64);
  }
  void* orphan = first->allocate(777, 16).value();
  CHECK(pool.backend.statistics().inUseBytes == 777);
  first.reset();
  CHECK(pool.backend.statistics().inUseBytes == 777);
  second.release(orphan, 777, 16);
  CHECK(pool.backend.statistics().inUseBytes == 0);
  CHECK(second.statistics().inUseBytes == 0);
  second.trim();
  CHECK(pool.system.statistics().inUseBytes == 0);
}

TEST_CASE("on exhaustion the pool trims, tries again, and then says how things stand") {
  Pool pool;
  PoolAllocator front(pool.backend);
  pool.limit.setLimit(1 << 20);
  // Reserved for another size: only after a trim there is room.
  void* first = front.allocate(600000, 64).value();
  front.release(first, 600000, 64);
  void* second = front.allocate(800000, 64).value();
  REQUIRE(second != nullptr);
  const Result<void*> refused = front.allocate(400000, 64);
  REQUIRE(!refused.has_value());
  CHECK(refused.error().code() == ErrorCode::LimitReached);
  CHECK(refused.error().message() ==
        "cannot allocate 400000 bytes: 800000 in use, 802816 reserved "
        "(cannot allocate 401408 bytes: 802816 in use, 802816 reserved, limit 1048576)");
  front.release(second, 800000, 64);
  void* third = front.allocate(400000, 64).value();
  front.release(third, 400000, 64);
}

TEST_CASE("every single refusal below leaves the pool clean") {
  for (const auto mode : {FailingAllocator::Mode::Once, FailingAllocator::Mode::FromThenOn})
    for (uint64_t n = 1; n < 40; ++n) {
      Pool pool;
      pool.failing.refuse(n, mode);
      int refusals = 0;
      {
        PoolAllocator front(pool.backend);
        std::vector<std::pair<void*, size_t>> blocks;
        for (size_t i = 0; i < 200; ++i) {
          const size_t size = (i * 7919) % 200000;
          Result<void*> data = front.allocate(size, 64);
          if (data.has_value())
            blocks.emplace_back(data.value(), size);
          else
            ++refusals;
        }
        for (const auto& [data, size] : blocks) front.release(data, size, 64);
        CHECK(front.statistics().inUseBytes == 0);
      }
      // A single refusal is made good by the retry.
      if (mode == FailingAllocator::Mode::Once) CHECK(refusals == 0);
      pool.backend.trim();
      CHECK(pool.system.statistics().inUseBytes == 0);
    }
}

TEST_CASE("fronts obey a trim of the backend when they next come to it") {
  Pool pool;
  PoolAllocator busy(pool.backend);
  PoolAllocator other(pool.backend);
  void* aligned = busy.allocate(100, 128).value();  // comes to the backend both ways
  void* large = busy.allocate(400000, 64).value();
  busy.release(large, 400000, 64);
  CHECK(pool.backend.statistics().reservedBytes >= 400000);
  other.trim();
  CHECK(pool.backend.statistics().reservedBytes >= 400000);  // still in the cache of the busy one
  busy.release(aligned, 100, 128);
  pool.backend.trim();
  CHECK(pool.backend.statistics().reservedBytes == 0);
}

}  // namespace
}  // namespace baton

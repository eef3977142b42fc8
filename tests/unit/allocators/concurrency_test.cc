// Allocators for several threads, under several threads.
#include <catch2/catch.hpp>
#include <random>
#include <thread>

#include "tests/unit/allocators/allocator_stacks.h"
#include "tests/unit/allocators/exercise.h"

namespace baton {
namespace {

TEST_CASE("allocators for several threads serve them at once") {
  const std::string name = GENERATE(from_range(allocatorStackNames()));
  AllocatorStack stack(name);
  if (!stack.threadSafe) return;
  INFO(name);
  Allocator& allocator = stack.top();
  std::atomic<int> damaged{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      if (!exercise(allocator, i, 600)) ++damaged;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(damaged == 0);
  const MemoryStatistics statistics = allocator.statistics();
  CHECK(statistics.inUseBytes == 0);
  CHECK(statistics.allocationCount == statistics.releaseCount);
  allocator.trim();
  CHECK(allocator.statistics().reservedBytes == 0);
}

TEST_CASE("fronts on several threads share one backend") {
  CpuDevice device;
  SystemAllocator system{device};
  PoolBackend backend{system};
  std::vector<std::thread> threads;
  std::atomic<int> damaged{0};
  for (uint32_t seed = 0; seed < 3; ++seed)
    threads.emplace_back([&, seed] {
      PoolAllocator front(backend);
      std::mt19937 random(seed);
      std::vector<std::pair<unsigned char*, size_t>> blocks;
      for (int step = 0; step < 4000; ++step) {
        if (blocks.size() < 100 && random() % 2) {
          const size_t size = 1 + random() % (size_t{1} << random() % 19);
          auto* data = static_cast<unsigned char*>(front.allocate(size, 64).value());
          data[0] = data[size - 1] = static_cast<unsigned char>(seed);
          blocks.emplace_back(data, size);
        } else if (!blocks.empty()) {
          const size_t index = random() % blocks.size();
          const auto [data, size] = blocks[index];
          if (data[0] != seed || data[size - 1] != seed) ++damaged;
          if (random() % 8 == 0)
            backend.release(data, size, 64);
          else
            front.release(data, size, 64);
          blocks[index] = blocks.back();
          blocks.pop_back();
        }
        if (step % 1000 == 0) front.trim();
        if (step % 100 == 0) (void)backend.statistics();
      }
      for (const auto& [data, size] : blocks) front.release(data, size, 64);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(damaged == 0);
  CHECK(backend.statistics().inUseBytes == 0);
  backend.trim();
  CHECK(system.statistics().inUseBytes == 0);
}

}  // namespace
}  // namespace baton

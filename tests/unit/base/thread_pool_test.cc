#include "base/thread_pool.h"

#include <catch2/catch.hpp>
#include <cfenv>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace baton {
namespace {

std::unique_ptr<ThreadPool> makePool(int threads) {
  Result<std::unique_ptr<ThreadPool>> pool = ThreadPool::create({.threadCount = threads});
  REQUIRE(pool.has_value());
  return std::move(pool).value();
}

TEST_CASE("every index is handled exactly once, in pieces that respect the grain") {
  for (const int threads : {1, 2, 3, 5}) {
    const auto pool = makePool(threads);
    CHECK(pool->threadCount() == threads);
    for (const int64_t extent : {0, 1, 2, 3, 7, 64, 1000}) {
      for (const int64_t grain : {0, 1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(extent));
        std::atomic<int64_t> shortest{INT64_MAX};
        const int32_t status = pool->parallelFor(extent, grain, [&](int64_t begin, int64_t end) {
          int64_t size = end - begin;
          int64_t least = shortest.load();
          while (size < least && !shortest.compare_exchange_weak(least, size)) {
          }
          for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
        });
        CHECK(status == 0);
        bool once = true;
        for (const auto& count : seen) once = once && count == 1;
        CHECK(once);
        if (extent > 0) CHECK(shortest >= std::min(extent, std::max<int64_t>(grain, 1)));
      }
    }
  }
}

TEST_CASE("huge extents do not overflow") {
  const auto pool = makePool(2);
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> pieces;
  pool->parallelFor(INT64_MAX, 1, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    pieces.insert({begin, end});
  });
  int64_t next = 0;
  for (const auto& [begin, end] : pieces) {
    CHECK(begin == next);
    next = end;
  }
  CHECK(next == INT64_MAX);
}

TEST_CASE("a pool of one thread runs everything in the caller") {
  const auto pool = makePool(1);
  std::set<std::thread::id> threads;
  int pieces = 0;
  pool->parallelFor(1000, 1, [&](int64_t, int64_t) {
    threads.insert(std::this_thread::get_id());
    ++pieces;
  });
  CHECK(threads == std::set<std::thread::id>{std::this_thread::get_id()});
  CHECK(pieces == 1);
}

TEST_CASE("workers take part while the caller is in a piece") {
  const auto pool = makePool(2);
  const ThreadPool::CallScope scope(*pool);
  // Both pieces wait for each other, so one thread alone would never finish.
  std::atomic<int> arrived{0};
  pool->parallelFor(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  CHECK(arrived == 2);
}

TEST_CASE("nested regions run in their caller") {
  const auto pool = makePool(3);
  std::atomic<int> foreign{0};
  std::atomic<int64_t> total{0};
  pool->parallelFor(8, 1, [&](int64_t begin, int64_t end) {
    const std::thread::id outer = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i)
      pool->parallelFor(100, 1, [&](int64_t innerBegin, int64_t innerEnd) {
        if (std::this_thread::get_id() != outer) ++foreign;
        total += innerEnd - innerBegin;
      });
  });
  CHECK(foreign == 0);
  CHECK(total == 800);
  // And the mark of being inside is gone afterwards.
  std::atomic<int> pieces{0};
  pool->parallelFor(8, 1, [&](int64_t, int64_t) { ++pieces; });
  CHECK(pieces == 8);
}

TEST_CASE("the first failure is returned and later pieces are left out") {
  const auto pool = makePool(2);
  std::atomic<int> run{0};
  const int32_t status = pool->parallelFor(1000, 1, [&](int64_t begin, int64_t) -> int32_t {
    ++run;
    return begin == 0 ? 7 : 0;
  });
  CHECK(status == 7);
  const auto alone = makePool(1);
  CHECK(alone->parallelFor(3, 1, [](int64_t, int64_t) -> int32_t { return 5; }) == 5);
  CHECK(pool->parallelFor(10, 1, [](int64_t, int64_t) -> int32_t { return 0; }) == 0);
}

TEST_CASE("several callers share the workers that are free") {
  const auto pool = makePool(4);
  std::atomic<int64_t> total{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      const ThreadPool::CallScope scope(*pool);
      for (int round = 0; round < 400; ++round)
        pool->parallelFor(64, 1, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) total += i;
        });
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(total == int64_t{3} * 400 * (63 * 64 / 2));
}

TEST_CASE("workers sleep without a call and wake for the next region") {
  const auto pool = makePool(2);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int64_t> total{0};
    pool->parallelFor(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    REQUIRE(total == 100);
    if (round % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

TEST_CASE("workers have the float environment of the contract") {
  REQUIRE(std::fesetround(FE_UPWARD) == 0);
  const auto pool = makePool(2);  // the worker inherits the rounding of this thread
  std::atomic<int> arrived{0};
  std::atomic<int> wrong{0};
  volatile double one = 1.0;
  volatile double tiny = 1e-30;
  const std::thread::id caller = std::this_thread::get_id();
  pool->parallelFor(2, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    if (std::this_thread::get_id() != caller && one + tiny != 1.0) ++wrong;
  });
  std::fesetround(FE_TONEAREST);
  CHECK(wrong == 0);
}

TEST_CASE("thread counts outside the range are refused") {
  CHECK(ThreadPool::create({.threadCount = -1}).error().message() == "thread count -1 is not within 0..1024");
  CHECK(ThreadPool::create({.threadCount = 1025}).error().code() == ErrorCode::InvalidArgument);
  CHECK(makePool(0)->threadCount() >= 1);
}

}  // namespace
}  // namespace baton

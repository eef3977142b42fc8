#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "allocators/cpu_device.h"
#include "allocators/failing_allocator.h"
#include "allocators/limiting_allocator.h"
#include "allocators/statistics_allocator.h"
#include "allocators/system_allocator.h"
#include "allocators/tracking_allocator.h"

namespace baton {
namespace {

struct System {
  CpuDevice device;
  SystemAllocator system{device};
};

TEST_CASE("a limit is hard, and its error says how things stand") {
  for (const auto sharing : {AllocatorSharing::OneThread, AllocatorSharing::Threads}) {
    System s;
    LimitingAllocator limiting(s.system, 100, sharing);
    void* first = limiting.allocate(60, 4).value();
    const Result<void*> refused = limiting.allocate(41, 4);
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code() == ErrorCode::LimitReached);
    CHECK(refused.error().message() == "cannot allocate 41 bytes: 60 in use, 60 reserved, limit 100");
    void* second = limiting.allocate(40, 4).value();
    CHECK(limiting.inUseBytes() == 100);
    CHECK(!limiting.allocate(1, 1).has_value());
    void* nothing = limiting.allocate(0, 1).value();
    limiting.setLimit(50);
    limiting.release(first, 60, 4);
    CHECK(!limiting.allocate(11, 1).has_value());
    limiting.release(second, 40, 4);
    limiting.release(nothing, 0, 1);
    CHECK(limiting.statistics().inUseBytes == 0);
    CHECK(limiting.statistics().peakInUseBytes == 100);
    limiting.setLimit(LimitingAllocator::kUnlimited);
    // Admitted, refused below: not counted.
    CHECK(!limiting.allocate(SIZE_MAX, 1).has_value());
    CHECK(limiting.inUseBytes() == 0);
  }
}

TEST_CASE("statistics are kept in all and by size") {
  System s;
  StatisticsAllocator statistics(s.system);
  void* one = statistics.allocate(1, 1).value();
  void* sixtyFour = statistics.allocate(64, 64).value();
  void* sixtyFive = statistics.allocate(65, 64).value();
  CHECK(!statistics.allocate(SIZE_MAX, 1).has_value());
  CHECK(statistics.refusedCount() == 1);
  CHECK(statistics.statistics().inUseBytes == 130);
  CHECK(statistics.classStatistics(0).inUseCount == 1);
  CHECK(statistics.classStatistics(6).inUseBytes == 64);
  CHECK(statistics.classStatistics(7).inUseBytes == 65);
  statistics.release(sixtyFour, 64, 64);
  CHECK(statistics.classStatistics(6).inUseCount == 0);
  CHECK(statistics.classStatistics(6).allocationCount == 1);
  statistics.release(one, 1, 1);
  statistics.release(sixtyFive, 65, 64);
  CHECK(statistics.statistics().inUseBytes == 0);
  CHECK(statistics.statistics().peakInUseBytes == 130);
  CHECK(StatisticsAllocator::classOf(0) == 0);
  CHECK(StatisticsAllocator::classOf(SIZE_MAX) == 64);
}

TEST_CASE("tracking names leaks and misuses") {
  System s;
  std::string site = "@main pc 3";
  TrackingAllocator tracking(s.system, [&] { return site; });
  void* leaked = tracking.allocate(100, 64).value();
  site = "@main pc 9";
  void* returned = tracking.allocate(8, 8).value();
  void* wrong = tracking.allocate(16, 8).value();
  tracking.release(returned, 8, 8);
  tracking.release(returned, 8, 8);
  tracking.release(wrong, 32, 8);
  const auto leaks = tracking.leaks();
  REQUIRE(leaks.size() == 1);
  CHECK(leaks[0].sizeBytes == 100);
  CHECK(leaks[0].site == "@main pc 3");
  CHECK(tracking.report() ==
        "8 bytes were given back that are not in use\n"
        "request 3 took 16 bytes aligned to 8, given back as 32 bytes aligned to 8\n"
        "request 1 of 100 bytes was not given back (from @main pc 3)\n");
  tracking.release(leaked, 100, 64);
  CHECK(tracking.leaks().empty());
  CHECK(s.system.statistics().inUseBytes == 0);
}

TEST_CASE("failing refuses the chosen request") {
  System s;
  FailingAllocator failing(s.system);
  std::vector<void*> blocks;
  const auto pattern = [&](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) {
      Result<void*> data = failing.allocate(8, 8);
      text += data.has_value() ? 'y' : 'n';
      if (data.has_value()) blocks.push_back(data.value());
    }
    return text;
  };
  CHECK(pattern(3) == "yyy");
  failing.refuse(2);
  CHECK(pattern(4) == "ynyy");
  CHECK(failing.requestCount() == 4);
  failing.refuse(2, FailingAllocator::Mode::FromThenOn);
  CHECK(pattern(4) == "ynnn");
  failing.refuse(0);
  CHECK(pattern(2) == "yy");
  failing.refuse(1);
  CHECK(failing.allocate(8, 8).error().message() ==
        "cannot allocate 8 bytes: 72 in use, 72 reserved (refused on purpose)");
  for (void* block : blocks) failing.release(block, 8, 8);
}

TEST_CASE("the host as a device copies and fills") {
  CpuDevice device;
  CHECK(device.id() == DeviceId{DeviceKind::Cpu, 0});
  CHECK(device.name() == "cpu");
  char from[] = "abcdef";
  char to[7] = {};
  REQUIRE(device.copy(to, from, sizeof from, Device::CopyKind::ToDevice).has_value());
  CHECK(std::string(to) == "abcdef");
  REQUIRE(device.copy(to + 1, to, 5, Device::CopyKind::Within).has_value());  // may overlap
  CHECK(std::string(to) == "aabcde");
  REQUIRE(device.fill(to, 'x', 2).has_value());
  CHECK(std::string(to) == "xxbcde");
  CHECK(device.copy(nullptr, nullptr, 0, Device::CopyKind::FromDevice).has_value());
  CHECK(device.fill(nullptr, 0, 0).has_value());
  CHECK(device.synchronize().has_value());
}

}  // namespace
}  // namespace baton

// Every allocator in the combinations in which it is used, for the conformance tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "allocators/arena_allocator.h"
#include "allocators/cpu_device.h"
#include "allocators/failing_allocator.h"
#include "allocators/limiting_allocator.h"
#include "allocators/pool_allocator.h"
#include "allocators/pool_backend.h"
#include "allocators/statistics_allocator.h"
#include "allocators/system_allocator.h"
#include "allocators/tracking_allocator.h"

namespace baton {

/// Layers from the device up; the last one is tested.
struct AllocatorStack {
  explicit AllocatorStack(const std::string& name);
  ~AllocatorStack() {
    while (!layers.empty()) layers.pop_back();
  }
  AllocatorStack(const AllocatorStack&) = delete;

  Allocator& top() { return *layers.back(); }

  CpuDevice device;
  SystemAllocator system{device};
  std::vector<std::unique_ptr<Allocator>> layers;
  bool threadSafe = true;
};

/// "system", or layers from the top down: "limiting/front/backend/system".
inline const std::vector<std::string>& allocatorStackNames() {
  static const std::vector<std::string> names = {
      "system",
      "arena/system",
      "backend/system",
      "front/backend/system",
      "arena/front/backend/system",
      "limiting/system",
      "limiting1/front/backend/system",
      "statistics/system",
      "statistics1/front/backend/limiting/system",
      "tracking/system",
      "tracking/front/backend/system",
      "failing/system",
      "failing/backend/system",
      "tracking/statistics/limiting/failing/backend/limiting/system",
      "limiting1/arena/limiting/backend/system",
  };
  return names;
}

inline AllocatorStack::AllocatorStack(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('/', begin), name.size());
    parts.insert(parts.begin(), name.substr(begin, end - begin));
    begin = end + 1;
  }
  constexpr uint64_t kLimit = uint64_t{1} << 40;
  for (const std::string& part : parts) {
    Allocator& below = layers.empty() ? system : top();
    if (part == "system") {
      layers.push_back(std::make_unique<SystemAllocator>(device));
    } else if (part == "arena") {
      layers.push_back(std::make_unique<ArenaAllocator>(below));
      threadSafe = false;
    } else if (part == "backend") {
      layers.push_back(std::make_unique<PoolBackend>(below));
    } else if (part == "front") {
      layers.push_back(std::make_unique<PoolAllocator>(dynamic_cast<PoolBackend&>(below)));
      threadSafe = false;
    } else if (part == "limiting" || part == "limiting1") {
      const bool one = part.back() == '1';
      layers.push_back(std::make_unique<LimitingAllocator>(
          below, kLimit, one ? AllocatorSharing::OneThread : AllocatorSharing::Threads));
      threadSafe = threadSafe && !one;
    } else if (part == "statistics" || part == "statistics1") {
      const bool one = part.back() == '1';
      layers.push_back(std::make_unique<StatisticsAllocator>(
          below, one ? AllocatorSharing::OneThread : AllocatorSharing::Threads));
      threadSafe = threadSafe && !one;
    } else if (part == "tracking") {
      layers.push_back(std::make_unique<TrackingAllocator>(below));
    } else if (part == "failing") {
      layers.push_back(std::make_unique<FailingAllocator>(below));
    }
  }
}

}  // namespace baton

#include "allocators/tracking_allocator.h"

#include <algorithm>

#include <fmt/format.h>

namespace baton {

Result<void*> TrackingAllocator::allocate(size_t sizeBytes, size_t alignment) {
  Block block{sizeBytes, alignment, 0, site_ ? site_() : std::string()};
  Result<void*> data = below_.allocate(sizeBytes, alignment);
  const std::lock_guard lock(mutex_);
  block.request = ++requestCount_;
  if (data.has_value()) blocks_.insert_or_assign(data.assume_value(), std::move(block));
  return data;
}

void TrackingAllocator::release(void* data, size_t sizeBytes, size_t alignment) noexcept {
  Block block;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(data);
    if (found == blocks_.end()) {
      misuses_.push_back(fmt::format("{} bytes were given back that are not in use", sizeBytes));
      return;
    }
    block = std::move(found->second);
    if (block.sizeBytes != sizeBytes || block.alignment != alignment)
      misuses_.push_back(
          fmt::format("request {} took {} bytes aligned to {}, given back as {} bytes aligned to {}",
                      block.request, block.sizeBytes, block.alignment, sizeBytes, alignment));
    blocks_.erase(found);
  }
  below_.release(data, block.sizeBytes, block.alignment);
}

std::vector<TrackingAllocator::Block> TrackingAllocator::leaks() const {
  const std::lock_guard lock(mutex_);
  std::vector<Block> result;
  for (const auto& [data, block] : blocks_) result.push_back(block);
  std::sort(result.begin(), result.end(),
            [](const Block& a, const Block& b) { return a.request < b.request; });
  return result;
}

std::vector<std::string> TrackingAllocator::misuses() const {
  const std::lock_guard lock(mutex_);
  return misuses_;
}

std::string TrackingAllocator::report() const {
  std::string text;
  for (const std::string& misuse : misuses()) text += misuse + "\n";
  for (const Block& block : leaks()) {
    text += fmt::format("request {} of {} bytes was not given back", block.request, block.sizeBytes);
    if (!block.site.empty()) text += fmt::format(" (from {})", block.site);
    text += "\n";
  }
  return text;
}

}  // namespace baton

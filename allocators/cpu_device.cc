#include "allocators/cpu_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "base/checked_math.h"

namespace baton {

Result<void*> CpuDevice::allocate(size_t sizeBytes, size_t alignment) {
  // No process has more addresses than this; asking the C library for it only tests the
  // library's own checks.
  constexpr uint64_t kMaxBytes = uint64_t{1} << 47;
  alignment = std::max(alignment, sizeof(void*));
  const auto rounded = checkedAlignUp(std::max<uint64_t>(sizeBytes, 1), alignment);
  void* data = rounded && *rounded <= kMaxBytes ? std::aligned_alloc(alignment, *rounded) : nullptr;
  if (!data) return Error(ErrorCode::OutOfMemory, fmt::format("the system refuses {} bytes", sizeBytes));
  return data;
}

void CpuDevice::release(void* data, size_t, size_t) noexcept { std::free(data); }

Result<void> CpuDevice::copy(void* to, const void* from, size_t sizeBytes, CopyKind) {
  if (sizeBytes != 0) std::memmove(to, from, sizeBytes);
  return success();
}

Result<void> CpuDevice::fill(void* data, uint8_t byte, size_t sizeBytes) {
  if (sizeBytes != 0) std::memset(data, byte, sizeBytes);
  return success();
}

}  // namespace baton

// The host as a device.
#pragma once

#include "allocators/device.h"

namespace baton {

class CpuDevice final : public Device {
 public:
  DeviceId id() const override { return {}; }
  std::string_view name() const override { return "cpu"; }
  Result<void*> allocate(size_t sizeBytes, size_t alignment) override;
  void release(void* data, size_t sizeBytes, size_t alignment) noexcept override;
  Result<void> copy(void* to, const void* from, size_t sizeBytes, CopyKind kind) override;
  Result<void> fill(void* data, uint8_t byte, size_t sizeBytes) override;
  Result<void> synchronize() override { return success(); }
};

}  // namespace baton

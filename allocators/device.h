// Device: a place where tensors live and kernels run. Leaf allocators get their memory here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"

namespace baton {

/// Kinds as DLPack numbers them.
enum class DeviceKind : int32_t { Cpu = 1, Cuda = 2, OpenCl = 4 };

struct DeviceId {
  DeviceKind kind = DeviceKind::Cpu;
  int32_t index = 0;
  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

/// Thread-safe. The memory of a CPU device is ordinary memory of this process.
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceId id() const = 0;
  virtual std::string_view name() const = 0;

  virtual Result<void*> allocate(size_t sizeBytes, size_t alignment) = 0;
  virtual void release(void* data, size_t sizeBytes, size_t alignment) noexcept = 0;

  /// Between memory of this device and host memory, or inside the device.
  enum class CopyKind { ToDevice, FromDevice, Within };
  virtual Result<void> copy(void* to, const void* from, size_t sizeBytes, CopyKind kind) = 0;
  virtual Result<void> fill(void* data, uint8_t byte, size_t sizeBytes) = 0;
  /// Waits until all work queued on the device is done.
  virtual Result<void> synchronize() = 0;
};

}  // namespace baton

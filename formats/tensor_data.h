// A dense tensor in ordinary memory, on its way between a file or text and a machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"

namespace baton {

/// Row-major; `bytes` has exactly elementCount * sizeBytes(dtype) of them, little-endian,
/// bools as 0 or 1.
struct TensorData {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;

  size_t elementCount() const {
    return bytes.empty() ? 0 : bytes.size() / static_cast<size_t>(sizeBytes(dtype));
  }
  /// Element `index` in the 64-bit form of base/dtype.h.
  uint64_t scalarAt(size_t index) const {
    return loadScalar(bytes.data() + index * static_cast<size_t>(sizeBytes(dtype)), dtype);
  }
  void appendScalar(uint64_t bits) {
    bytes.resize(bytes.size() + static_cast<size_t>(sizeBytes(dtype)));
    storeScalar(bytes.data() + bytes.size() - sizeBytes(dtype), dtype, bits);
  }
};

/// Size of a dense tensor; InvalidArgument for a negative extent or a size beyond int64.
Result<size_t> tensorSizeBytes(DType dtype, std::span<const int64_t> shape);

/// "2x3xf32", "f32".
std::string tensorTypeText(DType dtype, std::span<const int64_t> shape);

}  // namespace baton

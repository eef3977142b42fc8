// A tensor in plain memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace baton::eval {

/// Row-major, dense, bool one byte 0 or 1.
struct HostTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

}  // namespace baton::eval

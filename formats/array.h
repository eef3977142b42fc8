// An array as files hold it: dtype, shape and dense row-major bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace baton {

struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;    ///< empty for rank 0
  std::vector<std::byte> bytes;  ///< little-endian, row-major; bool one byte, 0 or 1
};

/// An array of a file whose bytes are somebody else's.
struct NamedArrayView {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;  ///< as in Array
};

}  // namespace baton

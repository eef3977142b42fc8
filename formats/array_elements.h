// Single elements and the type of an array, for what works on it element by element.
#pragma once

#include <cstring>
#include <span>
#include <string>

#include "formats/array.h"

namespace baton {

inline size_t elementCount(const Array& array) {
  return array.bytes.size() / static_cast<size_t>(sizeBytes(array.dtype));
}

/// Element `index` in the 64-bit form of base/dtype.h.
inline uint64_t elementAt(const Array& array, size_t index) {
  return loadScalar(array.bytes.data() + index * static_cast<size_t>(sizeBytes(array.dtype)), array.dtype);
}

/// Adds an element at the end; the shape is the caller's affair.
inline void appendElement(Array& array, uint64_t bits) {
  const auto width = static_cast<size_t>(sizeBytes(array.dtype));
  array.bytes.resize(array.bytes.size() + width);
  storeScalar(array.bytes.data() + array.bytes.size() - width, array.dtype, bits);
}

/// "2x3xf32", "f32".
std::string arrayTypeText(DType dtype, std::span<const int64_t> shape);

/// Same type and elements; all NaNs are equal.
bool sameArray(const Array& a, const Array& b);

}  // namespace baton

#include "formats/array_elements.h"

#include <cmath>

#include <fmt/format.h>

namespace baton {

std::string arrayTypeText(DType dtype, std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t extent : shape) text += fmt::format("{}x", extent);
  return text.append(dtypeShortName(dtype));
}

bool sameArray(const Array& a, const Array& b) {
  if (a.dtype != b.dtype || a.shape != b.shape || a.bytes.size() != b.bytes.size()) return false;
  if (a.bytes.empty() || std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0) return true;
  if (!isFloat(a.dtype)) return false;
  const auto isNan = [&](uint64_t bits) {
    return std::isnan(scalarFromBits<double>(convertScalar(bits, a.dtype, DType::F64)));
  };
  for (size_t i = 0; i < elementCount(a); ++i) {
    const uint64_t left = elementAt(a, i);
    const uint64_t right = elementAt(b, i);
    if (left != right && !(isNan(left) && isNan(right))) return false;
  }
  return true;
}

}  // namespace baton

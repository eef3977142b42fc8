// A .npy file that need not be trusted: an error, or an array whose file reads back as the same array.
#include <cstdint>
#include <cstdlib>

#include "base/checked_math.h"
#include "formats/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;
  const auto array = readNpy(std::as_bytes(std::span(data, size)));
  if (!array.has_value()) return 0;
  const Array& a = array.value();
  const auto count = checkedElementCount(a.shape);
  if (!count || static_cast<size_t>(*count) * static_cast<size_t>(sizeBytes(a.dtype)) != a.bytes.size())
    std::abort();
  const auto file = writeNpy(a);
  if (!file.has_value()) return 0;  // a dtype that numpy does not have
  const auto again = readNpy(file.value());
  if (!again.has_value() || again.value().dtype != a.dtype || again.value().shape != a.shape ||
      again.value().bytes != a.bytes)
    std::abort();
  return 0;
}

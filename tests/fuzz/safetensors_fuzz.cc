// A .safetensors file that need not be trusted: an error, or tensors that lie inside the file.
#include <cstdint>
#include <cstdlib>

#include "base/checked_math.h"
#include "formats/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;
  const auto file = std::as_bytes(std::span(data, size));
  (void)looksLikeSafetensors(file);
  const auto arrays = readSafetensors(file);
  if (!arrays.has_value()) return 0;
  for (const NamedArrayView& array : arrays.value()) {
    const auto count = checkedElementCount(array.shape);
    if (!count ||
        static_cast<size_t>(*count) * static_cast<size_t>(sizeBytes(array.dtype)) != array.bytes.size())
      std::abort();
    if (array.bytes.empty()) continue;
    if (array.bytes.data() < file.data() || array.bytes.data() + array.bytes.size() > file.data() + size)
      std::abort();
  }
  return 0;
}

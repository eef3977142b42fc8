// Values in text that need not be trusted: an error, or a value whose text reads back as the same
// value. Files that it names are not there.
#include <cstdint>
#include <cstdlib>

#include "formats/value_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = parseNamedValue(text);
  (void)parseTensorType(text);
  if (!value.has_value()) return 0;
  const std::string printed = formatValue(value.value().value);
  const auto again = parseValue(printed);
  if (!again.has_value() || !(again.value() == value.value().value)) std::abort();
  if (formatValue(again.value()) != printed) std::abort();
  (void)formatValue(value.value().value, 3);
  return 0;
}

// A .npz archive that need not be trusted: an error, or arrays whose archive reads back as the same
// arrays. No more memory than the limit is asked for, whatever the archive says of sizes.
#include <cstdint>
#include <cstdlib>

#include "formats/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton;
  const auto entries = readNpz(std::as_bytes(std::span(data, size)), 1 << 20);
  if (!entries.has_value()) return 0;
  size_t total = 0;
  for (const NpzEntry& entry : entries.value()) total += entry.array.bytes.size();
  if (total > 1 << 20) std::abort();
  const auto file = writeNpz(entries.value());
  if (!file.has_value()) return 0;  // a name or a dtype that an archive of ours does not have
  const auto again = readNpz(file.value(), 1 << 20);
  if (!again.has_value() || again.value().size() != entries.value().size()) std::abort();
  return 0;
}

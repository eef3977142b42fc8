#include "tests/fuzz/rehash.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <xxhash.h>

#include "bytecode/container/layout.h"

namespace baton::bytecode {

void rehash(std::span<std::byte> file) {
  if (file.size() < sizeof(FileHeader)) return;
  FileHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  const size_t room = (file.size() - sizeof header) / sizeof(SectionEntry);
  const size_t count = std::min<size_t>(header.sectionCount, room);
  for (size_t i = 0; i < count; ++i) {
    std::byte* place = file.data() + sizeof header + i * sizeof(SectionEntry);
    SectionEntry entry;
    std::memcpy(&entry, place, sizeof entry);
    if (entry.offset > file.size() || entry.sizeBytes > file.size() - entry.offset) continue;
    entry.hash = XXH3_64bits(file.data() + entry.offset, entry.sizeBytes);
    std::memcpy(place, &entry, sizeof entry);
  }
  header.tableHash = XXH3_64bits(file.data() + sizeof header, count * sizeof(SectionEntry));
  header.headerHash = XXH3_64bits(&header, offsetof(FileHeader, headerHash));
  std::memcpy(file.data(), &header, sizeof header);
}

}  // namespace baton::bytecode

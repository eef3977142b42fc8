// The .npz format: a zip archive of .npy files. Bytes need not be trusted.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/array.h"

namespace baton {

struct NpzEntry {
  std::string name;  ///< without ".npy"
  Array array;
};

/// Whether the bytes begin like an archive.
bool looksLikeNpz(std::span<const std::byte> file);

/// All arrays, in the order of the archive. Errors name the entry. The sum of what the
/// archive claims to hold uncompressed may not exceed `maxBytes`.
Result<std::vector<NpzEntry>> readNpz(std::span<const std::byte> file, uint64_t maxBytes = uint64_t{1} << 40);

/// Uncompressed, with a fixed date: the same arrays give the same bytes.
Result<std::vector<std::byte>> writeNpz(std::span<const NpzEntry> entries);

}  // namespace baton

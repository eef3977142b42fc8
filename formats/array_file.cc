#include "formats/array_file.h"

#include <string>
#include <utility>

#include "formats/npy.h"
#include "formats/npz.h"
#include "formats/safetensors.h"

namespace baton {

namespace {

std::string stem(std::string_view path) {
  if (const size_t slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
  if (path.ends_with(".npy")) path.remove_suffix(4);
  return std::string(path);
}

void addOwned(ArrayFile& file, std::string name, Array array) {
  file.owned.push_back(std::make_unique<Array>(std::move(array)));
  const Array& kept = *file.owned.back();
  file.arrays.push_back({std::move(name), kept.dtype, kept.shape, kept.bytes});
}

}  // namespace

Result<ArrayFile> readArrayFile(std::string_view path, std::span<const std::byte> bytes) {
  ArrayFile file;
  if (looksLikeNpz(bytes)) {
    BATON_TRY_ASSIGN(std::vector<NpzEntry> entries, readNpz(bytes));
    for (NpzEntry& entry : entries) addOwned(file, std::move(entry.name), std::move(entry.array));
    return file;
  }
  if (looksLikeNpy(bytes)) {
    BATON_TRY_ASSIGN(Array array, readNpy(bytes));
    addOwned(file, stem(path), std::move(array));
    return file;
  }
  if (looksLikeSafetensors(bytes) || path.ends_with(".safetensors")) {
    BATON_TRY_ASSIGN(file.arrays, readSafetensors(bytes));
    return file;
  }
  return Error(ErrorCode::Malformed, "not a .npz, .npy, .safetensors or .vmparams file");
}

}  // namespace baton

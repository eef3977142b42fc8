// Files of named arrays, whatever their format: weights, mostly.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/array.h"

namespace baton {

/// The arrays of a .npz, .npy or .safetensors file. The format shows in the first bytes.
struct ArrayFile {
  std::vector<NamedArrayView> arrays;         ///< names are unique; into the file's bytes or `owned`
  std::vector<std::unique_ptr<Array>> owned;  ///< what had to be unpacked or converted
};

/// The one array of a .npy file is called like the file, "dir/encoder.w.npy" is "encoder.w". The
/// bytes must outlive the result. Malformed when they are in none of the formats.
Result<ArrayFile> readArrayFile(std::string_view path, std::span<const std::byte> bytes);

}  // namespace baton

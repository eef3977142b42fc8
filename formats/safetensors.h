// The .safetensors format: a JSON header with dtype, shape and place of every tensor, then the
// bytes of all of them. Bytes need not be trusted.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "formats/array.h"

namespace baton {

/// All tensors, in the order of their bytes, which stay where they are. The header's metadata is
/// checked and ignored. Malformed when the header is not what the format asks for, or when the
/// tensors overlap, leave bytes over or reach beyond the file; Unsupported for element types
/// that are not ours (F8_E4M3 and the like). Errors name the tensor.
Result<std::vector<NamedArrayView>> readSafetensors(std::span<const std::byte> file);

/// Whether the bytes begin like such a file: the size of a header, and its first character.
bool looksLikeSafetensors(std::span<const std::byte> file);

}  // namespace baton

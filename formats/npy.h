// The .npy format of numpy, versions 1 to 3.
#pragma once

#include <functional>
#include <span>

#include "formats/tensor_data.h"

namespace baton {

/// Reads one array; the bytes must be that array and nothing else. Fortran order and
/// big-endian numbers are converted. bfloat16 is what numpy calls a void of two bytes
/// ('V2'). Malformed for broken bytes, Unsupported for a dtype that we do not have.
Result<TensorData> readNpy(std::span<const std::byte> bytes);

/// Fills a span with the next bytes of a file.
using ByteSource = std::function<Result<void>(std::span<std::byte>)>;
/// The same from a file of `sizeBytes` bytes that is read piece by piece; the data go
/// straight to their place.
Result<TensorData> readNpy(uint64_t sizeBytes, const ByteSource& source);

/// Version 1 (2 when the header is longer than that allows), C order, little-endian; the
/// data begin on a multiple of 64 bytes.
std::vector<std::byte> writeNpy(const TensorData& tensor);

/// Whether bytes begin like an .npy file.
bool looksLikeNpy(std::span<const std::byte> bytes);

/// Ranks beyond this are refused (numpy has 32).
inline constexpr size_t kMaxNpyRank = 64;

}  // namespace baton

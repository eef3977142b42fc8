// The .npy format (NEP 1), versions 1 to 3. Bytes need not be trusted.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "formats/array.h"

namespace baton {

/// Whether the bytes begin like such a file.
bool looksLikeNpy(std::span<const std::byte> file);

/// Reads every element type that is ours: b1, i1..i8, u1..u8, f2, f4, f8, and bfloat16 as the
/// two raw bytes ("V2") that numpy extensions write. Big-endian data and Fortran order are
/// converted. Malformed when the bytes are no array; Unsupported for other element types.
Result<Array> readNpy(std::span<const std::byte> file);

/// Version 1, C order, little-endian. InvalidArgument when the bytes do not fit the shape.
Result<std::vector<std::byte>> writeNpy(const Array& array);

}  // namespace baton

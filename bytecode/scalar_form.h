// Scalars in their 64-bit form as text that reads back to the same bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"

namespace baton::bytecode {

/// Whether the bits are the 64-bit form of some value of the dtype.
bool isScalarForm(uint64_t bits, DType dtype);
/// "7", "-1", "true", "0.5", "inf"; "0x..." for what has no such text (NaN payloads, bits
/// that are no value of the dtype).
std::string scalarText(uint64_t bits, DType dtype);
/// The bits of `text`, which may begin with '-'; nothing when it is no value of the dtype.
std::optional<uint64_t> parseScalarText(std::string_view text, DType dtype);

}  // namespace baton::bytecode

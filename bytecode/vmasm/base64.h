// Base64 (RFC 4648, with padding) for bytes inside text.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace baton::bytecode {

/// Appends the text of `bytes`.
void appendBase64(std::string& text, std::span<const std::byte> bytes);
/// Appends the bytes of `text`, a whole encoding; false when it is none (bad character, bad
/// length, padding in the middle, or bits set that the last byte does not hold).
bool decodeBase64(std::string_view text, std::vector<std::byte>& bytes);

}  // namespace baton::bytecode

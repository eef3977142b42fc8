#include "bytecode/vmasm/base64.h"

#include <array>
#include <cstdint>

namespace baton::bytecode {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> kValues = [] {
  std::array<int8_t, 256> values{};
  values.fill(-1);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<int8_t>(i);
  return values;
}();

}  // namespace

void appendBase64(std::string& text, std::span<const std::byte> bytes) {
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < count ? std::to_integer<uint32_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) text += j <= count ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
  }
}

bool decodeBase64(std::string_view text, std::vector<std::byte>& bytes) {
  if (text.size() % 4 != 0) return false;
  bytes.reserve(bytes.size() + text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    size_t count = 3;
    if (i + 4 == text.size()) count = text[i + 3] != '=' ? 3 : text[i + 2] != '=' ? 2 : 1;
    uint32_t group = 0;
    for (size_t j = 0; j < 4; ++j) {
      const int8_t value = j <= count ? kValues[static_cast<unsigned char>(text[i + j])] : int8_t{0};
      if (value < 0) return false;
      group = group << 6 | static_cast<uint32_t>(value);
    }
    for (size_t j = 0; j < count; ++j) bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * j)));
    if ((count == 2 && (group & 0xff) != 0) || (count == 1 && (group & 0xffff) != 0)) return false;
  }
  return true;
}

}  // namespace baton::bytecode

#include "bytecode/scalar_form.h"

#include <charconv>

#include <fmt/format.h>

#include "base/scalar_text.h"

namespace baton::bytecode {

bool isScalarForm(uint64_t bits, DType dtype) {
  return dispatchDType(dtype,
                       [&]<class T>(TypeTag<T>) { return scalarBits(scalarFromBits<T>(bits)) == bits; });
}

std::string scalarText(uint64_t bits, DType dtype) {
  if (isScalarForm(bits, dtype)) {
    std::string text = formatScalar(bits, dtype);
    const Result<uint64_t> back = parseScalar(text, dtype);  // differs for NaNs but one
    if (back.has_value() && back.value() == bits) return text;
  }
  return fmt::format("{:#x}", bits);
}

std::optional<uint64_t> parseScalarText(std::string_view text, DType dtype) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    uint64_t bits;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return bits;
  }
  Result<uint64_t> bits = parseScalar(text, dtype);
  if (!bits.has_value()) return std::nullopt;
  return bits.value();
}

}  // namespace baton::bytecode

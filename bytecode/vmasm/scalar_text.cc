#include "bytecode/vmasm/scalar_text.h"

#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace baton::bytecode {

namespace {

/// The canonical NaN of a float dtype: positive, quiet, zero payload.
uint64_t nanBits(DType dtype) {
  if (dtype == DType::F16) return 0x7e00;
  if (dtype == DType::BF16) return 0x7fc0;
  return dtype == DType::F32 ? 0x7fc00000 : 0x7ff8000000000000;
}

double toDouble(uint64_t bits, DType dtype) {
  if (dtype == DType::F16) return toFloat(scalarFromBits<Half>(bits));
  if (dtype == DType::BF16) return toFloat(scalarFromBits<BFloat16>(bits));
  return dtype == DType::F32 ? scalarFromBits<float>(bits) : scalarFromBits<double>(bits);
}

template <class T>
bool parseAll(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool isScalarForm(uint64_t bits, DType dtype) {
  return dispatchDType(dtype,
                       [&]<class T>(TypeTag<T>) { return scalarBits(scalarFromBits<T>(bits)) == bits; });
}

std::string scalarText(uint64_t bits, DType dtype) {
  if (!isScalarForm(bits, dtype)) return fmt::format("{:#x}", bits);
  if (dtype == DType::Bool) return bits ? "true" : "false";
  if (isSignedInt(dtype)) return fmt::format("{}", static_cast<int64_t>(bits));
  if (isUnsignedInt(dtype)) return fmt::format("{}", bits);
  const double value = toDouble(bits, dtype);
  if (std::isnan(value)) return bits == nanBits(dtype) ? "nan" : fmt::format("{:#x}", bits);
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return dtype == DType::F64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::optional<uint64_t> parseScalarText(std::string_view text, DType dtype) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    uint64_t bits;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return bits;
  }
  if (dtype == DType::Bool) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
    return std::nullopt;
  }
  if (isInteger(dtype)) {
    return dispatchDType(dtype, [&]<class T>(TypeTag<T>) -> std::optional<uint64_t> {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        T value;
        if (parseAll(text, value)) return scalarBits(value);
      }
      return std::nullopt;
    });
  }
  const bool isNegative = text.starts_with("-");
  const std::string_view magnitude = text.substr(isNegative ? 1 : 0);
  if (magnitude == "nan") {
    if (isNegative) return std::nullopt;
    return nanBits(dtype);
  }
  if (dtype == DType::F32) {
    float value;
    if (magnitude == "inf")
      value = std::numeric_limits<float>::infinity();
    else if (!parseAll(magnitude, value))
      return std::nullopt;
    return scalarBits(isNegative ? -value : value);
  }
  double value;
  if (magnitude == "inf")
    value = std::numeric_limits<double>::infinity();
  else if (!parseAll(magnitude, value))
    return std::nullopt;
  if (isNegative) value = -value;
  if (dtype == DType::F16) return scalarBits(toHalf(value));
  if (dtype == DType::BF16) return scalarBits(toBFloat16(value));
  return scalarBits(value);
}

}  // namespace baton::bytecode

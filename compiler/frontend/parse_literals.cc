// Numbers.
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"

namespace baton::frontend {

std::optional<ir::Atom> Parser::parseLiteral(bool negative) {
  const Token token = take();
  std::string_view text = token.text;
  if (token.kind == TokenKind::Integer) {
    uint64_t magnitude = 0;
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
    if (failure != std::errc()) {
      error(token.location, fmt::format("{} does not fit 64 bits", shown(text)));
      return std::nullopt;
    }
    uint64_t bits = negative ? 0 - magnitude : magnitude;
    bool fits32 = magnitude <= (negative ? uint64_t{1} << 31 : (uint64_t{1} << 31) - 1);
    DType dtype = token.suffix ? *token.suffix : fits32 ? DType::I32 : DType::I64;
    uint64_t wrapped = convertScalar(bits, isUnsignedInt(dtype) ? DType::U64 : DType::I64, dtype);
    bool isExact = wrapped == bits &&
                   (negative ? magnitude == 0 || (static_cast<int64_t>(bits) < 0 && !isUnsignedInt(dtype))
                             : isUnsignedInt(dtype) || static_cast<int64_t>(bits) >= 0);
    if (!isExact)
      diagnostics_.warning(token.location, fmt::format("{}{} does not fit {} and wraps around",
                                                       negative ? "-" : "", text, dtypeName(dtype)));
    return emitConstant(dtype, wrapped);
  }
  DType dtype = token.suffix.value_or(DType::F32);
  double value = 0;
  if (token.kind == TokenKind::Identifier) {
    std::string_view suffix = text.substr(3);
    std::optional<DType> written = suffix.empty() ? DType::F32 : literalSuffix(suffix);
    if (!written || !isFloat(*written)) {
      error(token.location, fmt::format("unknown name {}", shown(text)));
      return std::nullopt;
    }
    dtype = *written;
    value = text.starts_with("inf") ? std::numeric_limits<double>::infinity()
                                    : std::numeric_limits<double>::quiet_NaN();
  } else if (dtype == DType::F32) {
    // Straight to float: through double there would be two roundings.
    float narrow = 0;
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), narrow);
    if (failure != std::errc()) {
      error(token.location, fmt::format("{} is out of the range of float32", shown(text)));
      return std::nullopt;
    }
    return emitConstant(dtype, scalarBits(negative ? -narrow : narrow));
  } else {
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc()) {
      error(token.location, fmt::format("{} is out of the range of float64", shown(text)));
      return std::nullopt;
    }
  }
  bool isNan = value != value;
  if (negative && !isNan) value = -value;
  return emitConstant(dtype, convertScalar(scalarBits(value), DType::F64, dtype));
}

}  // namespace baton::frontend

// Numbers, and constants of the metadata section.
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"
#include "compiler/ir/metadata.h"

namespace baton::frontend {

std::optional<ir::Atom> Parser::parseLiteral(bool negative) {
  const Token token = take();
  std::string_view text = token.text;
  if (token.kind == TokenKind::Integer) {
    uint64_t magnitude = 0;
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), magnitude);
    if (failure != std::errc()) {
      error(token.location, fmt::format("{} does not fit 64 bits", text));
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
      error(token.location, fmt::format("unknown name {}", text));
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
      error(token.location, fmt::format("{} is out of the range of float32", text));
      return std::nullopt;
    }
    return emitConstant(dtype, scalarBits(negative ? -narrow : narrow));
  } else {
    auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc()) {
      error(token.location, fmt::format("{} is out of the range of float64", text));
      return std::nullopt;
    }
  }
  bool isNan = value != value;
  if (negative && !isNan) value = -value;
  return emitConstant(dtype, convertScalar(scalarBits(value), DType::F64, dtype));
}

// meta[relay.Constant][0]
std::optional<ir::Atom> Parser::parseMetaConstant() {
  SourceLocation location = take().location;
  if (!expect(TokenKind::LeftBracket, "after 'meta'")) return std::nullopt;
  std::string kind;
  while (!at(TokenKind::RightBracket) && !at(TokenKind::End)) kind += take().text;
  if (!expect(TokenKind::RightBracket, "after a kind of metadata") ||
      !expect(TokenKind::LeftBracket, "before an index into the metadata"))
    return std::nullopt;
  const Token number = peek();
  size_t index = 0;
  if (!expect(TokenKind::Integer, "as an index into the metadata") ||
      !expect(TokenKind::RightBracket, "after an index into the metadata"))
    return std::nullopt;
  auto [end, failure] = std::from_chars(number.text.data(), number.text.data() + number.text.size(), index);
  if (kind != "relay.Constant") {
    error(location, fmt::format("meta[{}] is not supported: relay.Constant is", kind));
    return std::nullopt;
  }
  if (!metaConstants_) {
    metaConstants_.emplace();
    if (stream_.metadata.empty()) {
      error(location, "the text has no #[metadata] section");
      return std::nullopt;
    }
    Result<std::vector<ir::Constant>> constants = ir::readMetadata(stream_.metadata);
    if (!constants.has_value()) {
      error(location, constants.error().message());
      return std::nullopt;
    }
    for (ir::Constant& constant : constants.value())
      metaConstants_->push_back(module_.addConstant(std::move(constant)));
  }
  if (failure != std::errc() || index >= metaConstants_->size()) {
    error(location, fmt::format("meta[relay.Constant][{}] does not exist: the metadata has {}", number.text,
                                metaConstants_->size()));
    return std::nullopt;
  }
  return ir::Atom((*metaConstants_)[index]);
}

}  // namespace baton::frontend

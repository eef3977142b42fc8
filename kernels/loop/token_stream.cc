#include "kernels/loop/token_stream.h"

#include <charconv>

#include <fmt/format.h>

namespace baton::loop {

Result<TokenStream> TokenStream::open(std::string_view text) {
  TokenStream stream(text);
  BATON_TRY(stream.advance());
  return stream;
}

Result<void> TokenStream::advance() {
  BATON_TRY_ASSIGN(token_, lexer_.next());
  return success();
}

Error TokenStream::error(const std::string& message) const {
  // What was found is cut short: it may be a megabyte of digits.
  constexpr size_t kShown = 40;
  const std::string found =
      token_.kind == TokenKind::End ? "end of text" : fmt::format("'{}'", token_.text.substr(0, kShown));
  return Error(ErrorCode::Malformed,
               fmt::format("{}:{}: {}, found {}", token_.line, token_.column, message, found));
}

Result<bool> TokenStream::acceptPunct(std::string_view text) {
  if (!isPunct(text)) return false;
  BATON_TRY(advance());
  return true;
}

Result<bool> TokenStream::acceptName(std::string_view text) {
  if (!isName(text)) return false;
  BATON_TRY(advance());
  return true;
}

Result<void> TokenStream::expectPunct(std::string_view text) {
  if (!isPunct(text)) return error(fmt::format("expected '{}'", text));
  return advance();
}

Result<void> TokenStream::expectName(std::string_view text) {
  if (!isName(text)) return error(fmt::format("expected '{}'", text));
  return advance();
}

Result<std::string_view> TokenStream::expectKind(TokenKind kind, const char* what) {
  if (token_.kind != kind) return error(fmt::format("expected {}", what));
  const std::string_view text = token_.text;
  BATON_TRY(advance());
  return text;
}

Result<uint64_t> TokenStream::expectNumber(uint64_t max, const char* what) {
  if (token_.kind != TokenKind::Number) return error(fmt::format("expected {}", what));
  const std::optional<uint64_t> value = parseUnsigned(token_.text);
  if (!value || *value > max) return error(fmt::format("expected {} of at most {}", what, max));
  BATON_TRY(advance());
  return *value;
}

std::optional<uint64_t> parseUnsigned(std::string_view text) {
  const bool hex = text.substr(0, 2) == "0x";
  if (hex) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace baton::loop

// The small pieces: tokens, names, numbers, lists, bytes.
#include <charconv>

#include <fmt/format.h>

#include "bytecode/owned_bytes.h"
#include "bytecode/vmasm/base64.h"
#include "bytecode/vmasm/parser_impl.h"

namespace baton::bytecode {

void SymbolScope::add(std::string_view name) {
  const auto [found, isNew] = symbols_.try_emplace(std::string(name), DimSymbol(count_++));
  if (!isNew) found->second = std::nullopt;
}

std::optional<DimSymbol> SymbolScope::find(std::string_view name) const {
  const auto found = symbols_.find(std::string(name));
  return found == symbols_.end() ? std::nullopt : found->second;
}

uint32_t Parser::StringTable::add(std::vector<std::string>& list, std::string text) {
  const auto index = static_cast<uint32_t>(list.size());
  firstIndex.try_emplace(text, index);
  list.push_back(std::move(text));
  return index;
}

uint32_t Parser::StringTable::intern(std::vector<std::string>& list, std::string text) {
  const auto found = firstIndex.find(text);
  return found != firstIndex.end() ? found->second : add(list, std::move(text));
}

const Token& Parser::peek(size_t ahead) const { return tokens_[std::min(next_ + ahead, tokens_.size() - 1)]; }

Token Parser::take() {
  const Token token = peek();
  if (token.kind != TokenKind::End) ++next_;
  return token;
}

bool Parser::takeIf(std::string_view text) {
  if (!peek().is(text)) return false;
  take();
  return true;
}

Error Parser::unexpected(std::string_view expected) const {
  return errorAt(peek(), fmt::format("expected {}, found {}", expected, describeToken(peek())));
}

Result<void> Parser::expect(std::string_view text) {
  if (!takeIf(text)) return unexpected(fmt::format("`{}`", text));
  return success();
}

Result<std::string> Parser::string() {
  if (peek().kind != TokenKind::String) return unexpected("a string");
  return unescapeString(take());
}

Result<std::string> Parser::identifier(std::string_view what) {
  if (peek().kind != TokenKind::Identifier) return unexpected(what);
  return std::string(take().text);
}

Result<std::string> Parser::nameOrString() {
  if (peek().kind == TokenKind::String) return string();
  return identifier("a name or a string");
}

Result<uint64_t> Parser::number(uint64_t max, std::string_view what) {
  if (peek().kind != TokenKind::Number) return unexpected(what);
  const Token token = take();
  const bool isHex = token.text.starts_with("0x") || token.text.starts_with("0X");
  const char* begin = token.text.data() + (isHex ? 2 : 0);
  const char* end = token.text.data() + token.text.size();
  uint64_t value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value, isHex ? 16 : 10);
  if (error == std::errc::result_out_of_range || (error == std::errc() && stop == end && value > max))
    return errorAt(token, fmt::format("{} out of range: found {}, at most {}", what, token.text, max));
  if (error != std::errc() || stop != end)
    return errorAt(token, fmt::format("expected {}, found {}", what, describeToken(token)));
  return value;
}

Result<int64_t> Parser::signedNumber() {
  const Token at = peek();
  const bool isNegative = takeIf("-");
  BATON_TRY_ASSIGN(const uint64_t magnitude, number(uint64_t{1} << 63, "a number"));
  if (!isNegative && magnitude > INT64_MAX) return errorAt(at, "a number out of range of i64");
  return static_cast<int64_t>(isNegative ? uint64_t{0} - magnitude : magnitude);
}

Result<uint32_t> Parser::index(std::string_view prefix) {
  const Token& token = peek();
  uint32_t value = 0;
  if (token.kind == TokenKind::Identifier && token.text.starts_with(prefix)) {
    const char* end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data() + prefix.size(), end, value);
    if (error == std::errc() && stop == end) {
      take();
      return value;
    }
  }
  return unexpected(fmt::format("`{}` and a number", prefix));
}

Result<void> Parser::nextIndex(std::string_view prefix, size_t count) {
  const Token at = peek();
  BATON_TRY_ASSIGN(const uint32_t value, index(prefix));
  if (value != count)
    return errorAt(at, fmt::format("expected `{}{}`, found {}: entries are numbered in order", prefix, count,
                                   describeToken(at)));
  return expect("=");
}

Result<std::vector<std::string>> Parser::stringList() {
  std::vector<std::string> strings;
  BATON_TRY(list("[", "]", [&]() -> Result<void> {
    BATON_TRY_ASSIGN(auto one, string());
    strings.push_back(std::move(one));
    return success();
  }));
  return strings;
}

Result<std::span<const std::byte>> Parser::bytes() {
  std::vector<std::byte> bytes;
  if (takeIf("base64")) {
    if (peek().kind != TokenKind::String) return unexpected("a string");
    while (peek().kind == TokenKind::String) {
      const Token token = take();
      if (!decodeBase64(token.text.substr(1, token.text.size() - 2), bytes))
        return errorAt(token, "string is not base64");
    }
  } else if (takeIf("file")) {
    const Token at = peek();
    BATON_TRY_ASSIGN(const std::string name, string());
    if (!isSafeBlobName(name)) return errorAt(at, "expected a plain file name, found " + describeToken(at));
    if (!options_.readBlob) return errorAt(at, "text refers to a file, but no directory of files was given");
    auto content = options_.readBlob(name);
    if (!content.has_value())
      return std::move(content.error()).withContext(fmt::format("{}:{}", at.line, at.column));
    bytes = std::move(content.value());
  } else {
    return unexpected("`base64` or `file`");
  }
  auto owned = std::make_unique<OwnedBytes>(bytes);
  const std::span<const std::byte> kept = owned->bytes();
  program_.storage.push_back(std::move(owned));
  return kept;
}

bool isSafeBlobName(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 255) return false;
  for (char c : name)
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20) return false;
  return true;
}

Result<Program> parseVmasm(std::string_view text, const VmasmParseOptions& options) {
  BATON_TRY_ASSIGN(auto tokens, tokenizeVmasm(text));
  return Parser(std::move(tokens), options).parse();
}

}  // namespace baton::bytecode

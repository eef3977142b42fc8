#include "kernels/loop/lexer.h"

#include <fmt/format.h>

namespace baton::loop {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isNamePart(char c) { return isNameStart(c) || isDigit(c) || c == '.'; }
int hexDigit(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Lexer::skipBlanks() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      ++line_;
      lineStart_ = ++position_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++position_;
    } else if (text_.substr(position_, 2) == "//") {
      const size_t end = text_.find('\n', position_);
      position_ = end == std::string_view::npos ? text_.size() : end;
    } else {
      return;
    }
  }
}

size_t Lexer::nameEnd(size_t from) const {
  while (from < text_.size() && isNamePart(text_[from])) ++from;
  return from;
}

Result<Token> Lexer::next() {
  skipBlanks();
  Token token{TokenKind::End, {}, line_, static_cast<uint32_t>(position_ - lineStart_ + 1)};
  if (position_ == text_.size()) return token;
  const size_t start = position_;
  const char c = text_[start];
  const auto take = [&](TokenKind kind, size_t from, size_t end, size_t next) {
    token.kind = kind;
    token.text = text_.substr(from, end - from);
    position_ = next;
    return token;
  };
  if (isNameStart(c)) {
    const size_t end = nameEnd(start);
    return take(TokenKind::Name, start, end, end);
  }
  if (isDigit(c)) {
    size_t end = start;
    // A sign belongs to the number only after an exponent letter: 1e-5, but 3-n is three tokens.
    const bool hex = text_.substr(start, 2) == "0x";
    while (end < text_.size() &&
           (isNamePart(text_[end]) ||
            (!hex && (text_[end] == '-' || text_[end] == '+') && text_[end - 1] == 'e')))
      ++end;
    return take(TokenKind::Number, start, end, end);
  }
  if (c == '%' || c == '$') {
    const size_t end = nameEnd(start + 1);
    return take(c == '%' ? TokenKind::Value : TokenKind::Symbol, start + 1, end, end);
  }
  if (c == '"') {
    size_t end = start + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n')
      end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2 : 1;
    if (end >= text_.size() || text_[end] != '"')
      return Error(ErrorCode::Malformed, fmt::format("{}:{}: string without end", token.line, token.column));
    return take(TokenKind::String, start + 1, end, end + 1);
  }
  const std::string_view two = text_.substr(start, 2);
  if (two == "==" || two == "!=" || two == "<=" || two == ">=")
    return take(TokenKind::Punct, start, start + 2, start + 2);
  if (std::string_view("{}()[],=<>*+-").find(c) != std::string_view::npos)
    return take(TokenKind::Punct, start, start + 1, start + 1);
  return Error(ErrorCode::Malformed, fmt::format("{}:{}: unexpected character 0x{:02x}", token.line,
                                                 token.column, static_cast<unsigned char>(c)));
}

std::string unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    if (text[i] == 'x' && i + 2 < text.size() && hexDigit(text[i + 1]) >= 0 && hexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(hexDigit(text[i + 1]) * 16 + hexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace baton::loop

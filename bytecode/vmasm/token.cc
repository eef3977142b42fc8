#include "bytecode/vmasm/token.h"

#include <fmt/format.h>

namespace baton::bytecode {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isIdentifierStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}
bool isIdentifierPart(char c) { return isIdentifierStart(c) || isDigit(c); }
bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Length of the number at the start of `text`.
size_t numberLength(std::string_view text) {
  size_t i = 1;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    for (i = 2; i < text.size() && isHexDigit(text[i]);) ++i;
    return i;
  }
  const auto digits = [&] {
    while (i < text.size() && isDigit(text[i])) ++i;
  };
  digits();
  if (i + 1 < text.size() && text[i] == '.' && isDigit(text[i + 1])) {
    ++i;
    digits();
  }
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const size_t sign = i + 1 < text.size() && (text[i + 1] == '-' || text[i + 1] == '+') ? 1 : 0;
    if (i + 1 + sign < text.size() && isDigit(text[i + 1 + sign])) {
      i += 1 + sign;
      digits();
    }
  }
  return i;
}

/// Length of the string at the start of `text`, quotes included; 0 when it does not end.
size_t stringLength(std::string_view text) {
  for (size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return 0;
}

int hexValue(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a') return c - 'a' + 10;
  return c - 'A' + 10;
}

}  // namespace

Result<std::vector<Token>> tokenizeVmasm(std::string_view text) {
  std::vector<Token> tokens;
  Token token;
  if (text.size() > UINT32_MAX) return errorAt(token, "text of more than 4 GiB");
  size_t at = 0;
  size_t lineStart = 0;
  while (true) {
    while (at < text.size()) {
      if (text[at] == '\n') {
        ++token.line;
        lineStart = ++at;
      } else if (text[at] == ' ' || text[at] == '\t' || text[at] == '\r') {
        ++at;
      } else if (text.substr(at, 2) == "//") {
        while (at < text.size() && text[at] != '\n') ++at;
      } else {
        break;
      }
    }
    token.column = static_cast<uint32_t>(at - lineStart + 1);
    const std::string_view rest = text.substr(at);
    size_t length = 0;
    if (rest.empty()) {
      token.kind = TokenKind::End;
    } else if (isIdentifierStart(rest[0])) {
      token.kind = TokenKind::Identifier;
      while (length < rest.size() && isIdentifierPart(rest[length])) ++length;
    } else if (isDigit(rest[0])) {
      token.kind = TokenKind::Number;
      length = numberLength(rest);
    } else if (rest[0] == '"') {
      token.kind = TokenKind::String;
      length = stringLength(rest);
      if (length == 0) return errorAt(token, "string without an end on its line");
    } else {
      token.kind = TokenKind::Punctuation;
      length = 1;
      for (std::string_view pair : {"->", "==", "!=", "<=", ">="})
        if (rest.starts_with(pair)) length = 2;
      if (length == 1 && std::string_view("@$?!,:;=<>()[]{}+-*#").find(rest[0]) == std::string_view::npos) {
        const auto byte = static_cast<unsigned char>(rest[0]);
        if (byte > 0x20 && byte < 0x7f)
          return errorAt(token, fmt::format("unexpected character `{}`", rest[0]));
        return errorAt(token, fmt::format("unexpected byte 0x{:02x}", byte));
      }
    }
    token.text = rest.substr(0, length);
    tokens.push_back(token);
    if (token.kind == TokenKind::End) return tokens;
    at += length;
  }
}

Result<std::string> unescapeString(const Token& token) {
  const std::string_view text = token.text.substr(1, token.text.size() - 2);
  std::string bytes;
  bytes.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    ++i;  // there is one: a string does not end in a backslash
    switch (text[i]) {
      case 'n': bytes += '\n'; break;
      case 't': bytes += '\t'; break;
      case 'r': bytes += '\r'; break;
      case '\\': bytes += '\\'; break;
      case '"': bytes += '"'; break;
      case 'x':
        if (i + 2 >= text.size() || !isHexDigit(text[i + 1]) || !isHexDigit(text[i + 2]))
          return errorAt(token, "`\\x` in a string needs two hexadecimal digits");
        bytes += static_cast<char>(hexValue(text[i + 1]) * 16 + hexValue(text[i + 2]));
        i += 2;
        break;
      default:
        return errorAt(token,
                       fmt::format("unknown escape `\\{}` in a string: expected n t r x \\ or \"", text[i]));
    }
  }
  return bytes;
}

std::string escapeString(std::string_view bytes) {
  std::string text = "\"";
  for (char c : bytes) {
    switch (c) {
      case '\n': text += "\\n"; break;
      case '\t': text += "\\t"; break;
      case '\r': text += "\\r"; break;
      case '\\': text += "\\\\"; break;
      case '"': text += "\\\""; break;
      default: {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
          text += fmt::format("\\x{:02x}", byte);
        else
          text += c;
      }
    }
  }
  text += '"';
  return text;
}

bool isIdentifier(std::string_view text) {
  if (text.empty() || !isIdentifierStart(text[0])) return false;
  for (char c : text)
    if (!isIdentifierPart(c)) return false;
  return true;
}

std::string describeToken(const Token& token) {
  if (token.kind == TokenKind::End) return "end of text";
  if (token.text.size() > 40) return fmt::format("`{}...`", token.text.substr(0, 37));
  return fmt::format("`{}`", token.text);
}

Error errorAt(const Token& token, const std::string& message, std::source_location where) {
  return Error(ErrorCode::Malformed, fmt::format("{}:{}: {}", token.line, token.column, message), where);
}

}  // namespace baton::bytecode

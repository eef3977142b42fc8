// Tokens of `.vmasm` text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace baton::bytecode {

enum class TokenKind : uint8_t {
  Identifier,   ///< letters, digits, '_' and '.', not beginning with a digit
  Number,       ///< unsigned, as written: decimal, hexadecimal or a decimal fraction
  String,       ///< with its quotes and escapes
  Punctuation,  ///< one character, or "->" "==" "!=" "<=" ">="
  End,
};

/// `text` borrows the source.
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint32_t line = 1;
  uint32_t column = 1;

  bool is(std::string_view expected) const { return text == expected && kind != TokenKind::String; }
};

/// All tokens, the last one End. Comments run from `//` to the end of the line.
Result<std::vector<Token>> tokenizeVmasm(std::string_view text);

/// The bytes that a String token stands for.
Result<std::string> unescapeString(const Token& token);
/// The text of a String token for these bytes.
std::string escapeString(std::string_view bytes);

bool isIdentifier(std::string_view text);
/// "`x`", or "end of text".
std::string describeToken(const Token& token);
/// A Malformed error that begins with "line:column: ".
Error errorAt(const Token& token, const std::string& message,
              std::source_location where = std::source_location::current());

}  // namespace baton::bytecode

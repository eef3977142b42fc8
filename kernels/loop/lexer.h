// Tokens of loop-IR text, for the parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace baton::loop {

enum class TokenKind : uint8_t {
  End,
  Name,    ///< letters, digits, `_` and `.`, not beginning with a digit
  Number,  ///< digits with what may follow them in a number; `0x...`
  Value,   ///< `%12`: text is "12"
  Symbol,  ///< `$n`: text is "n"
  String,  ///< text is what was between the quotes, with its escapes
  Punct,   ///< one of { } ( ) [ ] , = < > * + - or == != <= >=
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint32_t line = 1;
  uint32_t column = 1;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  /// The next token; an error on a character that begins none.
  Result<Token> next();

 private:
  void skipBlanks();
  size_t nameEnd(size_t from) const;

  std::string_view text_;
  size_t position_ = 0;
  size_t lineStart_ = 0;
  uint32_t line_ = 1;
};

/// The characters of a String token with its escapes resolved.
std::string unescape(std::string_view text);

}  // namespace baton::loop

// One token of lookahead over a Lexer, and the requests that a parser makes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kernels/loop/lexer.h"

namespace baton::loop {

class TokenStream {
 public:
  static Result<TokenStream> open(std::string_view text);

  const Token& peek() const { return token_; }
  bool isPunct(std::string_view text) const { return token_.kind == TokenKind::Punct && token_.text == text; }
  bool isName(std::string_view text) const { return token_.kind == TokenKind::Name && token_.text == text; }
  Result<void> advance();
  /// Takes the punctuation when it comes next.
  Result<bool> acceptPunct(std::string_view text);
  Result<bool> acceptName(std::string_view text);
  Result<void> expectPunct(std::string_view text);
  Result<void> expectName(std::string_view text);
  Result<std::string_view> expectKind(TokenKind kind, const char* what);
  /// A decimal number in [0, max].
  Result<uint64_t> expectNumber(uint64_t max, const char* what);
  /// "line:column: message (found X)"
  Error error(const std::string& message) const;

 private:
  explicit TokenStream(std::string_view text) : lexer_(text) {}
  Lexer lexer_;
  Token token_;
};

/// A whole decimal or `0x` number.
std::optional<uint64_t> parseUnsigned(std::string_view text);

}  // namespace baton::loop

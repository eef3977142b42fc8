// Program text to tokens. The lexer never fails: what it does not understand becomes a
// diagnostic and is skipped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/source_location.h"
#include "compiler/frontend/diagnostic.h"

namespace baton::frontend {

enum class TokenKind : uint8_t {
  Local,       ///< %name; text without '%'
  Graph,       ///< %12; text without '%'
  Global,      ///< @name; text without '@'
  Identifier,  ///< name, keywords included; without dots
  Integer,     ///< text without suffix
  Float,       ///< text without suffix
  String,      ///< text with escapes as written, without quotes
  Arrow,
  FatArrow,
  Equal,
  EqualEqual,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Plus,
  Minus,
  Star,
  Slash,
  LeftParen,
  RightParen,
  LeftBrace,
  RightBrace,
  LeftBracket,
  RightBracket,
  Comma,
  Semicolon,
  Colon,
  Dot,
  Question,
  Hash,
  End,
};

/// As messages name it: "';'", "a name".
const char* tokenKindName(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;        ///< into the source
  std::optional<DType> suffix;  ///< of a number
  SourceLocation location;
  size_t offset = 0;  ///< in the source
};

/// `///` lines before a token.
struct DocComment {
  size_t token = 0;
  std::string text;
};

struct TokenStream {
  std::vector<Token> tokens;  ///< ends with End
  std::vector<DocComment> docs;
  std::string_view metadata;  ///< what follows `#[metadata]`; empty without it
};

/// `text` must outlive the tokens.
TokenStream lex(std::string_view text, uint32_t file, Diagnostics& diagnostics);

/// What a string stands for: \" \\ \n \t \r are one character, any other backslash is itself.
std::string unescaped(std::string_view text);

/// Suffix of a literal ("f", "f16", "i64"), or nothing.
std::optional<DType> literalSuffix(std::string_view text);

}  // namespace baton::frontend

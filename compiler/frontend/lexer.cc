#include "compiler/frontend/lexer.h"

#include <fmt/format.h>

namespace baton::frontend {
namespace {

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Lexer {
 public:
  Lexer(std::string_view text, uint32_t file, Diagnostics& diagnostics)
      : text_(text), file_(file), diagnostics_(diagnostics) {}

  TokenStream run() {
    while (skipBlanks(), at_ < text_.size()) next();
    finishDoc();
    push(TokenKind::End, at_, at_);
    return std::move(stream_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  SourceLocation locationOf(size_t offset) const {
    return {file_, line_, static_cast<uint32_t>(offset - lineStart_ + 1)};
  }

  void push(TokenKind kind, size_t begin, size_t end, std::optional<DType> suffix = std::nullopt) {
    stream_.tokens.push_back(
        {kind, text_.substr(begin, end - begin), suffix, locationOf(tokenStart_), tokenStart_});
  }

  void newLine() {
    ++line_;
    lineStart_ = at_ + 1;
  }

  void finishDoc() {
    if (!doc_.empty()) stream_.docs.push_back({stream_.tokens.size(), std::move(doc_)});
    doc_.clear();
  }

  void lineComment() {
    size_t end = text_.find('\n', at_);
    if (end == std::string_view::npos) end = text_.size();
    std::string_view comment = text_.substr(at_, end - at_);
    if (comment.starts_with("///")) {
      comment.remove_prefix(3);
      if (comment.starts_with(' ')) comment.remove_prefix(1);
      if (!doc_.empty()) doc_ += '\n';
      doc_ += comment;
    }
    at_ = end;
  }

  void blockComment() {
    SourceLocation start = locationOf(at_);
    int depth = 0;
    while (at_ < text_.size()) {
      if (peek() == '/' && peek(1) == '*') {
        ++depth;
        at_ += 2;
      } else if (peek() == '*' && peek(1) == '/') {
        at_ += 2;
        if (--depth == 0) return;
      } else {
        if (peek() == '\n') newLine();
        ++at_;
      }
    }
    diagnostics_.error(start, "comment is not closed");
  }

  void skipBlanks() {
    while (at_ < text_.size()) {
      char c = peek();
      if (c == '\n') {
        newLine();
        ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r') {
        ++at_;
      } else if (c == '/' && peek(1) == '/') {
        lineComment();
      } else if (c == '/' && peek(1) == '*') {
        blockComment();
      } else {
        break;
      }
    }
    tokenStart_ = at_;
  }

  // A '/' belongs to a name when a letter or digit follows at once, as in names that other
  // frameworks give to variables; "%x / %y" and comments are not touched by that.
  size_t nameEnd(size_t begin, bool slashes) const {
    size_t end = begin;
    while (end < text_.size()) {
      char c = text_[end];
      bool more = isLetter(c) || isDigit(c) ||
                  (slashes && c == '/' && end > begin && end + 1 < text_.size() &&
                   (isLetter(text_[end + 1]) || isDigit(text_[end + 1])));
      if (!more) break;
      ++end;
    }
    return end;
  }

  void sigilName(char sigil) {
    size_t begin = at_ + 1;
    if (sigil == '%' && isDigit(peek(1))) {
      at_ = begin;
      while (isDigit(peek())) ++at_;
      // "%1x" is a name that happens to start with a digit.
      if (!isLetter(peek())) return push(TokenKind::Graph, begin, at_);
    }
    at_ = nameEnd(begin, true);
    if (at_ == begin) {
      diagnostics_.error(locationOf(tokenStart_),
                         fmt::format("a name must follow '{}'{}", sigil,
                                     sigil == '%' ? "; remainders are mod and floor_mod" : ""));
      return;
    }
    push(sigil == '%' ? TokenKind::Local : TokenKind::Global, begin, at_);
  }

  void number() {
    size_t begin = at_;
    while (isDigit(peek())) ++at_;
    // After a dot only a field index can stand: "%0.1.0" is two projections.
    bool field = !stream_.tokens.empty() && stream_.tokens.back().kind == TokenKind::Dot;
    if (field) return push(TokenKind::Integer, begin, at_);
    bool isFloat = false;
    if (peek() == '.' && isDigit(peek(1))) {
      isFloat = true;
      ++at_;
      while (isDigit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      size_t digits = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
      if (isDigit(peek(digits))) {
        isFloat = true;
        at_ += digits;
        while (isDigit(peek())) ++at_;
      }
    }
    size_t end = at_;
    std::optional<DType> suffix;
    if (isLetter(peek())) {
      at_ = nameEnd(at_, false);
      std::string_view written = text_.substr(end, at_ - end);
      suffix = literalSuffix(written);
      if (!suffix)
        diagnostics_.error(locationOf(begin), fmt::format("unknown suffix '{}' of a number", shown(written)));
    }
    if (suffix && isFloat && !baton::isFloat(*suffix)) {
      diagnostics_.error(locationOf(begin),
                         "a number with a fraction or an exponent cannot have an integer suffix");
      suffix.reset();
    }
    isFloat |= suffix && baton::isFloat(*suffix);
    push(isFloat ? TokenKind::Float : TokenKind::Integer, begin, end, suffix);
  }

  void string() {
    size_t begin = ++at_;
    while (at_ < text_.size() && peek() != '"' && peek() != '\n')
      at_ += peek() == '\\' && peek(1) != '\n' ? 2 : 1;
    if (at_ > text_.size()) at_ = text_.size();
    push(TokenKind::String, begin, at_);
    if (peek() == '"')
      ++at_;
    else
      diagnostics_.error(locationOf(tokenStart_), "string is not closed");
  }

  // "#[version = "0.0.5"]" is checked and dropped; "#[metadata]" ends the program text.
  void hash() {
    std::string_view rest = text_.substr(at_);
    if (rest.starts_with("#[metadata]")) {
      stream_.metadata = rest.substr(std::string_view("#[metadata]").size());
      text_ = text_.substr(0, at_);
      return;
    }
    size_t end = text_.find(']', at_);
    size_t line = text_.find('\n', at_);
    if (rest.starts_with("#[version") && end < line) {
      std::string_view body = text_.substr(at_, end - at_);
      if (body.find("\"0.0.5\"") == std::string_view::npos)
        diagnostics_.error(locationOf(at_), "unknown version of the text format: \"0.0.5\" is known");
      at_ = end + 1;
      return;
    }
    ++at_;
    push(TokenKind::Hash, tokenStart_, at_);
  }

  void symbol() {
    struct Two {
      char first, second;
      TokenKind kind;
    };
    static constexpr Two kTwo[] = {{'-', '>', TokenKind::Arrow},      {'=', '>', TokenKind::FatArrow},
                                   {'=', '=', TokenKind::EqualEqual}, {'!', '=', TokenKind::NotEqual},
                                   {'<', '=', TokenKind::LessEqual},  {'>', '=', TokenKind::GreaterEqual}};
    for (const Two& two : kTwo)
      if (peek() == two.first && peek(1) == two.second) {
        at_ += 2;
        return push(two.kind, tokenStart_, at_);
      }
    struct One {
      char c;
      TokenKind kind;
    };
    static constexpr One kOne[] = {
        {'=', TokenKind::Equal},        {'<', TokenKind::Less},       {'>', TokenKind::Greater},
        {'+', TokenKind::Plus},         {'-', TokenKind::Minus},      {'*', TokenKind::Star},
        {'/', TokenKind::Slash},        {'(', TokenKind::LeftParen},  {')', TokenKind::RightParen},
        {'{', TokenKind::LeftBrace},    {'}', TokenKind::RightBrace}, {'[', TokenKind::LeftBracket},
        {']', TokenKind::RightBracket}, {',', TokenKind::Comma},      {';', TokenKind::Semicolon},
        {':', TokenKind::Colon},        {'.', TokenKind::Dot},        {'?', TokenKind::Question}};
    for (const One& one : kOne)
      if (peek() == one.c) {
        ++at_;
        return push(one.kind, tokenStart_, at_);
      }
    unsigned char c = static_cast<unsigned char>(peek());
    diagnostics_.error(locationOf(at_), c >= 0x20 && c < 0x7f ? fmt::format("unexpected character '{}'{}",
                                                                            peek(), hintFor(peek()))
                                                              : fmt::format("unexpected byte 0x{:02x}", c));
    if (c == '\'' && stringInSingleQuotes()) return;
    if ((c == '&' || c == '|') && peek(1) == peek()) ++at_;
    ++at_;
    while (static_cast<unsigned char>(peek()) >= 0x80) ++at_;  // one message for a run of them
  }

  /// After its error, a string like any other, if its end is on the line.
  bool stringInSingleQuotes() {
    const size_t end = text_.find_first_of("'\n", at_ + 1);
    if (end == std::string_view::npos || text_[end] != '\'') return false;
    push(TokenKind::String, at_ + 1, end);
    at_ = end + 1;
    return true;
  }

  /// What other languages write and this one has a name for.
  static const char* hintFor(char c) {
    switch (c) {
      case '&': return ": 'and' is logical_and";
      case '|': return ": 'or' is logical_or";
      case '!': return ": 'not' is logical_not";
      case '\'': return ": strings have double quotes";
      default: return "";
    }
  }

  void next() {
    finishDoc();
    char c = peek();
    if (c == '%' || c == '@') return sigilName(c);
    if (isDigit(c)) return number();
    if (isLetter(c)) {
      at_ = nameEnd(at_, false);
      return push(TokenKind::Identifier, tokenStart_, at_);
    }
    if (c == '"') return string();
    if (c == '#') return hash();
    symbol();
  }

  std::string_view text_;
  uint32_t file_;
  Diagnostics& diagnostics_;
  TokenStream stream_;
  std::string doc_;
  size_t at_ = 0;
  size_t tokenStart_ = 0;
  size_t lineStart_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

TokenStream lex(std::string_view text, uint32_t file, Diagnostics& diagnostics) {
  return Lexer(text, file, diagnostics).run();
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = text[i] == '\\' && i + 1 < text.size() ? text[i + 1] : '\0';
    const char meant = next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : next;
    const bool isKnown = next == '"' || next == '\\' || (next != '\0' && meant != next);
    out += isKnown ? meant : text[i];
    if (isKnown) ++i;
  }
  return out;
}

std::optional<DType> literalSuffix(std::string_view text) {
  if (text == "f") return DType::F32;
  if (text == "i") return DType::I32;
  std::optional<DType> dtype = parseDType(text);
  // Long names ("float32") are types, not suffixes.
  if (!dtype || dtypeShortName(*dtype) != text || *dtype == DType::Bool) return std::nullopt;
  return dtype;
}

const char* tokenKindName(TokenKind kind) {
  switch (kind) {
    case TokenKind::Local: return "a local name";
    case TokenKind::Graph: return "a graph binding";
    case TokenKind::Global: return "a global name";
    case TokenKind::Identifier: return "a name";
    case TokenKind::Integer: return "an integer";
    case TokenKind::Float: return "a number";
    case TokenKind::String: return "a string";
    case TokenKind::Arrow: return "'->'";
    case TokenKind::FatArrow: return "'=>'";
    case TokenKind::Equal: return "'='";
    case TokenKind::EqualEqual: return "'=='";
    case TokenKind::NotEqual: return "'!='";
    case TokenKind::Less: return "'<'";
    case TokenKind::LessEqual: return "'<='";
    case TokenKind::Greater: return "'>'";
    case TokenKind::GreaterEqual: return "'>='";
    case TokenKind::Plus: return "'+'";
    case TokenKind::Minus: return "'-'";
    case TokenKind::Star: return "'*'";
    case TokenKind::Slash: return "'/'";
    case TokenKind::LeftParen: return "'('";
    case TokenKind::RightParen: return "')'";
    case TokenKind::LeftBrace: return "'{'";
    case TokenKind::RightBrace: return "'}'";
    case TokenKind::LeftBracket: return "'['";
    case TokenKind::RightBracket: return "']'";
    case TokenKind::Comma: return "','";
    case TokenKind::Semicolon: return "';'";
    case TokenKind::Colon: return "':'";
    case TokenKind::Dot: return "'.'";
    case TokenKind::Question: return "'?'";
    case TokenKind::Hash: return "'#'";
    case TokenKind::End: return "the end of the text";
  }
  return "a token";
}

}  // namespace baton::frontend

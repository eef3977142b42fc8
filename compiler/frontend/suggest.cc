#include "compiler/frontend/suggest.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compiler/frontend/lexer.h"
#include "compiler/prelude/prelude.h"

namespace baton::frontend {

namespace {

/// Names that are longer are not worth comparing.
constexpr size_t kMaxLength = 64;

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> beforeLast(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(beforeLast, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool isSame = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (isSame ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row[b.size()];
}

size_t allowedFor(std::string_view name) { return name.size() < 3 ? 0 : name.size() < 6 ? 1 : 2; }

}  // namespace

void NearestName::consider(std::string_view candidate) {
  const size_t allowed = allowedFor(name_);
  if (candidate.size() > kMaxLength || name_.size() > kMaxLength) return;
  if (candidate.size() > name_.size() + allowed || name_.size() > candidate.size() + allowed) return;
  const size_t found = distance(name_, candidate);
  // Of two letters nothing but their order may be wrong.
  const bool isSwapOfTwo =
      name_.size() == 2 && candidate.size() == 2 && name_[0] == candidate[1] && name_[1] == candidate[0];
  if (found == 0 || (found > allowed && !isSwapOfTwo) || found > bestDistance_) return;
  if (found == bestDistance_ && candidate >= best_) return;
  bestDistance_ = found;
  best_ = std::string(candidate);
}

void NearestName::take(std::string_view candidate) {
  best_ = std::string(candidate);
  bestDistance_ = 0;
}

std::string NearestName::text(std::string_view sigil) const {
  return best_.empty() ? std::string() : fmt::format("; did you mean {}{}?", sigil, best_);
}

bool isInPrelude(NameKind kind, std::string_view name) {
  const std::optional<std::string_view> text = prelude::find("prelude");
  if (!text) return false;
  Diagnostics ignored;
  const TokenStream stream = lex(*text, 0, ignored);
  bool isType = false;
  for (size_t i = 0; i + 1 < stream.tokens.size(); ++i) {
    const Token& token = stream.tokens[i];
    const Token& next = stream.tokens[i + 1];
    const bool isWord = token.kind == TokenKind::Identifier;
    if (isWord && token.text == "def" && next.kind == TokenKind::Global) {
      isType = false;
      if (kind == NameKind::Global && next.text == name) return true;
    } else if (isWord && token.text == "type" && next.kind == TokenKind::Identifier) {
      isType = true;
      if (kind == NameKind::Type && next.text == name) return true;
    } else if (isType && kind == NameKind::Constructor && isWord && token.text == name) {
      // In a definition of types the constructors are what follows a brace or a comma.
      const TokenKind before = stream.tokens[i - 1].kind;
      if (before == TokenKind::LeftBrace || before == TokenKind::Comma) return true;
    }
  }
  return false;
}

}  // namespace baton::frontend

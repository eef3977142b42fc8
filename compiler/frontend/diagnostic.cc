#include "compiler/frontend/diagnostic.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace baton::frontend {
namespace {

constexpr size_t kMaxLine = 160;

const char* severityName(Severity severity) {
  switch (severity) {
    case Severity::Error: return "error";
    case Severity::Warning: return "warning";
    case Severity::Note: return "note";
  }
  return "error";
}

std::string_view lineOf(std::string_view text, uint32_t line) {
  size_t start = 0;
  for (uint32_t i = 1; i < line; ++i) {
    size_t end = text.find('\n', start);
    if (end == std::string_view::npos) return {};
    start = end + 1;
  }
  return text.substr(start, text.find('\n', start) - start);
}

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/// Whether the text may be cut before its byte `at`.
bool isBoundary(std::string_view text, size_t at) {
  return at >= text.size() || (static_cast<unsigned char>(text[at]) & 0xc0) != 0x80;
}

/// At most `limit` bytes, or so: the middle gives way.
std::string shortened(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  size_t head = limit * 2 / 3;
  size_t tail = text.size() - (limit - head);
  while (head > 0 && !isBoundary(text, head)) --head;
  while (!isBoundary(text, tail)) ++tail;
  return fmt::format("{}...{}", text.substr(0, head), text.substr(tail));
}

/// Length of the token that starts at `column` (from 1).
size_t tokenLength(std::string_view line, size_t column) {
  size_t at = column - 1;
  if (at >= line.size()) return 1;
  size_t end = at;
  if (line[end] == '%' || line[end] == '@') ++end;
  while (end < line.size() && isNameCharacter(line[end])) ++end;
  return std::max<size_t>(end - at, 1);
}

}  // namespace

std::string shown(std::string_view text) { return shortened(text, 60); }

std::string countOf(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void Diagnostics::add(Severity severity, SourceLocation location, std::string message, std::string detail) {
  if (message.size() > kMaxMessage) message = shortened(message, kMaxMessage);
  if (detail.size() > kMaxMessage) detail = shortened(detail, kMaxMessage);
  items_.push_back({severity, location, std::move(message), std::move(detail)});
}

void Diagnostics::error(SourceLocation location, std::string message, std::string detail) {
  ++errorCount_;
  muted_ = errorCount_ > kMaxErrors;
  if (!muted_) add(Severity::Error, location, std::move(message), std::move(detail));
}

void Diagnostics::warning(SourceLocation location, std::string message, std::string detail) {
  muted_ = false;
  add(Severity::Warning, location, std::move(message), std::move(detail));
}

void Diagnostics::note(SourceLocation location, std::string message, std::string detail) {
  if (!muted_) add(Severity::Note, location, std::move(message), std::move(detail));
}

std::string Diagnostics::moreErrors() const {
  return errorCount_ > kMaxErrors ? countOf(errorCount_ - kMaxErrors, "more error") : std::string();
}

void Diagnostics::clear() { *this = Diagnostics(); }

std::string render(const Diagnostic& diagnostic, std::span<const ir::SourceFile> sources) {
  const SourceLocation& at = diagnostic.location;
  const char* severity = severityName(diagnostic.severity);
  if (!at.isKnown() || at.file >= sources.size()) {
    std::string detail = diagnostic.detail.empty() ? "" : ": " + diagnostic.detail;
    return fmt::format("{}: {}{}\n", severity, diagnostic.message, detail);
  }
  const ir::SourceFile& source = sources[at.file];
  std::string text =
      fmt::format("{}:{}:{}: {}: {}\n", source.name, at.line, at.column, severity, diagnostic.message);
  std::string_view line = lineOf(source.text, at.line);
  size_t column = at.column;
  // Of a very long line what is around the place is enough.
  size_t start = std::min(column > kMaxLine / 2 ? column - kMaxLine / 2 : 0, line.size());
  bool isCut = line.size() > kMaxLine;
  if (isCut) {
    line = line.substr(start, kMaxLine);
    column -= start;
  }
  text += fmt::format("{:>5} | {}\n", at.line, line);
  // Tabs stay tabs, so that the caret is under its token whatever their width.
  std::string pad;
  for (size_t i = 0; i + 1 < column; ++i) pad += i < line.size() && line[i] == '\t' ? '\t' : ' ';
  text += fmt::format("      | {}^{}", pad, std::string(tokenLength(line, column) - 1, '~'));
  if (!diagnostic.detail.empty()) text += "  " + diagnostic.detail;
  text += '\n';
  return text;
}

std::string render(const Diagnostics& diagnostics, std::span<const ir::SourceFile> sources) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.items()) text += render(diagnostic, sources);
  const std::string more = diagnostics.moreErrors();
  return more.empty() ? text : text + more + '\n';
}

}  // namespace baton::frontend

// What the compiler has to say about program text: structured messages, and their
// rendering with the source line and a caret.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/source_location.h"
#include "compiler/ir/ir.h"

namespace baton::frontend {

/// A name or a token as messages show it: what is very long is cut.
std::string shown(std::string_view text);
/// "1 input", "2 inputs"
std::string countOf(size_t count, std::string_view noun);

enum class Severity : uint8_t { Error, Warning, Note };

struct Diagnostic {
  Severity severity = Severity::Error;
  SourceLocation location;
  std::string message;  ///< lower case, no final stop
  std::string detail;   ///< printed beside the caret: "Tensor[(n, 300), float32]"
};

/// Collects diagnostics in the order in which they are found. Notes belong to what
/// precedes them. After kMaxErrors errors the rest are counted only.
class Diagnostics {
 public:
  static constexpr size_t kMaxErrors = 100;
  /// Bytes of a message or detail; of longer ones the middle is left out.
  static constexpr size_t kMaxMessage = 1000;

  void error(SourceLocation location, std::string message, std::string detail = {});
  void warning(SourceLocation location, std::string message, std::string detail = {});
  void note(SourceLocation location, std::string message, std::string detail = {});

  bool hasErrors() const { return errorCount_ != 0; }
  size_t errorCount() const { return errorCount_; }
  /// Whether another error would not be kept: nothing need be found out for its message.
  bool isFull() const { return errorCount_ >= kMaxErrors; }
  /// "3 more errors" when there are more than are kept; else empty.
  std::string moreErrors() const;
  const std::vector<Diagnostic>& items() const { return items_; }
  void clear();

 private:
  void add(Severity severity, SourceLocation location, std::string message, std::string detail);
  std::vector<Diagnostic> items_;
  size_t errorCount_ = 0;
  bool muted_ = false;  // notes of a dropped error are dropped too
};

/// "file:line:col: error: message", the source line and a caret under the token there.
std::string render(const Diagnostic& diagnostic, std::span<const ir::SourceFile> sources);
/// All of them, and a last line that counts errors past the limit.
std::string render(const Diagnostics& diagnostics, std::span<const ir::SourceFile> sources);

}  // namespace baton::frontend

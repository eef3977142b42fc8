// Parser of `.vmasm` text (docs/vmasm.md). The text need not be trusted: what it returns is
// well formed but not verified, and every failure is an error with line and column.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bytecode/program.h"

namespace baton::bytecode {

struct VmasmParseOptions {
  /// Bytes of `file "name"`; without it such a reference is an error. The name comes from the
  /// text and need not be trusted: see isSafeBlobName.
  std::function<Result<std::vector<std::byte>>(std::string_view name)> readBlob;
};

/// The program owns all its bytes.
Result<Program> parseVmasm(std::string_view text, const VmasmParseOptions& options = {});

/// A plain file name: no separators, not "." or "..", no control characters.
bool isSafeBlobName(std::string_view name);

}  // namespace baton::bytecode

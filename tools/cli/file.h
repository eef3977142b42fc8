// Files as the commands use them: read whole, written whole or not at all.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace baton::tools {

/// All bytes of a file; "-" is standard input. Errors name the file and the reason.
Result<std::vector<std::byte>> readFile(const std::string& path);
Result<std::string> readTextFile(const std::string& path);

/// Writes to a temporary file beside `path`, then renames: a reader sees the old file or the
/// new one, never a part. Links are followed; devices and pipes are written to. "-" is standard
/// output, where a reader that has gone away is no error.
Result<void> writeFile(const std::string& path, std::span<const std::byte> bytes);
Result<void> writeTextFile(const std::string& path, const std::string& text);

}  // namespace baton::tools

// Relocatable objects to one flat image, by LLVM's linker in this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace baton::codegen {

struct LinkedImage {
  std::vector<std::byte> bytes;
  std::vector<uint64_t> symbolOffsets;  ///< of the symbols asked for
};

/// Code and constants only, references relative to the program counter, nothing undefined,
/// nothing writable, no thread-local storage: anything else is ErrorCode::Internal naming it.
/// Takes a process-wide lock: the linker is not thread-safe.
Result<LinkedImage> linkImage(std::span<const std::span<const char>> objects,
                              std::span<const std::string> symbols);

}  // namespace baton::codegen

// Reads described structures from msgpack. The bytes need not be trusted: memory stays
// within a small multiple of them, and every failure is a Malformed error.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bytecode/program.h"

namespace baton::bytecode {

struct StoredConstant;

/// `isOlder`: written by an earlier minor version, whose structures may end earlier.
struct ArchiveOptions {
  bool isOlder = false;
};

Result<void> unpackMeta(std::span<const std::byte> bytes, ArchiveOptions options, Meta& meta);
Result<void> unpackTypes(std::span<const std::byte> bytes, ArchiveOptions options, Program& program);
/// Leaves codeOffset alone.
Result<void> unpackFunctions(std::span<const std::byte> bytes, ArchiveOptions options,
                             std::vector<Function>& functions);
Result<void> unpackConstants(std::span<const std::byte> bytes, ArchiveOptions options,
                             std::vector<StoredConstant>& constants);
/// Kernels, and images without their bytes.
Result<void> unpackKernels(std::span<const std::byte> bytes, ArchiveOptions options, Program& program);
Result<void> unpackLoops(std::span<const std::byte> bytes, ArchiveOptions options,
                         std::vector<std::string>& loops);
Result<void> unpackDebug(std::span<const std::byte> bytes, ArchiveOptions options, DebugInfo& debug);
Result<void> unpackTests(std::span<const std::byte> bytes, ArchiveOptions options,
                         std::vector<TestCase>& tests);

}  // namespace baton::bytecode

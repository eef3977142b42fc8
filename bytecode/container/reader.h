// Readers of `.vmexe` and `.vmparams`. The bytes need not be trusted: what is returned is
// well formed, but a program is to be verified (verifier/verifier.h) before it runs.
//
// Errors: Malformed (no such file, truncated, damaged), Incompatible (another version, or
// parts that this build does not know; the message says who wrote it and what to do), Io.
#pragma once

#include <string>

#include "base/error.h"
#include "bytecode/container/params.h"
#include "bytecode/program.h"

namespace baton::bytecode {

enum class ReadMode : uint8_t {
  Copy,    ///< the result owns all its bytes; the hashes of all sections are checked
  Borrow,  ///< constants and images stay where they are, and the bytes must outlive the result
};

struct ReadOptions {
  ReadMode mode = ReadMode::Copy;
  /// Borrow: also check the hash of the constants' bytes, which touches all of them.
  bool verifyConstants = false;
};

Result<Program> readExecutable(std::span<const std::byte> file, ReadOptions options = {});
Result<Params> readParams(std::span<const std::byte> file, ReadOptions options = {});

enum class OpenMode : uint8_t {
  Map,   ///< constants and images stay in the mapped file, shared between processes
  Copy,  ///< everything is read; the file may change afterwards
};

struct OpenOptions {
  OpenMode mode = OpenMode::Map;
  bool verifyConstants = false;  ///< Map: as above
};

/// Errors begin with the path.
Result<Program> openExecutable(const std::string& path, OpenOptions options = {});
/// From an open file, of which it takes a duplicate; errors begin with `name`.
Result<Program> openExecutable(int descriptor, const std::string& name, OpenOptions options = {});
Result<Params> openParams(const std::string& path, OpenOptions options = {});

/// Whether the bytes begin like a `.vmexe` or `.vmparams`, of any version.
bool hasContainerMagic(std::span<const std::byte> file);

/// Size in bytes of each section, in the order of the file, for `vm-dump --sizes`.
struct SectionSize {
  std::string name;
  uint64_t offset;
  uint64_t sizeBytes;
};
Result<std::vector<SectionSize>> readSectionSizes(std::span<const std::byte> file);

}  // namespace baton::bytecode

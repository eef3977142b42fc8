// The command line of vm-run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/vm_run/compare.h"

namespace baton::tools {

struct RunOptions {
  std::string executable;
  std::string function = "main";

  std::vector<std::string> inputs;  ///< VALUE or NAME=VALUE
  std::string inputsNpz;
  std::optional<uint64_t> randomSeed;
  std::vector<std::string> dims;    ///< NAME=EXTENT, for --random
  std::vector<std::string> params;  ///< [SCOPE=]FILE

  std::vector<std::string> outputs;  ///< "-" or "@FILE.npy", per result
  std::string outputsNpz;
  std::vector<std::string> expected;  ///< VALUE, per result
  std::string expectedNpz;
  Tolerance tolerance;
  uint64_t elementLimit = 0;  ///< of a printed tensor; 0: all

  uint32_t threads = 0;
  std::string memoryLimit;
  std::string timeout;
  uint64_t maxInstructions = 0;
  uint64_t maxCallDepth = 0;
  bool noNativeCode = false;
  std::string cpu;
  std::string allocator = "pool";
  bool copyFile = false;
  bool verifyConstants = false;
  bool switchDispatch = false;

  uint64_t repeat = 1;
  bool printMemoryStatistics = false;
  std::string profile;          ///< empty, "table" or "json"
  std::string format = "text";  ///< "text" or "json"
};

/// "encoder=dir/w.npz"; without a scope, "params", which `vm-compile` gives to keys without one. A
/// scope has no slash, so that "dir/a=b.npz" is a file.
struct ScopedFile {
  std::string scope;
  std::string path;
};
ScopedFile splitScope(const std::string& argument);

/// Bytes of "4096", "64KiB", "2GiB", "1.5GB"; nothing when it is none.
std::optional<uint64_t> parseByteSize(const std::string& text);
/// Nanoseconds of "5s", "250ms", "1.5m"; nothing when it is none.
std::optional<uint64_t> parseDuration(const std::string& text);

}  // namespace baton::tools

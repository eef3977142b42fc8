// The command line of vm-compile.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/compiler.h"
#include "tools/cli/command.h"

namespace baton::tools {

struct CompileCommandOptions {
  std::string input;
  std::string output;
  int level = 3;
  std::vector<std::string> cpuLevels;
  std::vector<std::string> params;
  std::vector<std::string> entries;
  std::vector<std::string> dims;  ///< as written: "n=128"
  std::optional<std::string> passes;
  std::vector<std::string> disabledPasses;
  std::vector<std::string> printBefore;
  std::vector<std::string> printAfter;
  std::string emit = "vmexe";
  bool isPortable = false;
  bool hasNoNativeCode = false;
  bool timePasses = false;
  bool countPasses = false;
  bool printChanged = false;
  bool listPasses = false;
  bool verifyEach = false;
};

void addOptions(Command& command, CompileCommandOptions& options);
/// `name` is one that the command line accepts.
baton_compile_emit emitOf(const std::string& name);
/// "n=128"; nothing for anything else.
std::optional<std::pair<std::string, int64_t>> dimOf(const std::string& text);
/// The file that is written when none is named.
std::string defaultOutput(const CompileCommandOptions& options);

}  // namespace baton::tools

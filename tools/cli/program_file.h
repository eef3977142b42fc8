// Programs as the commands take them: an executable or its text.
#pragma once

#include <string>

#include "bytecode/program.h"

namespace baton::tools {

/// Whether the file is one of weights (`.vmparams`); false when it cannot be read.
bool isParamsFile(const std::string& path);

/// The program in a `.vmexe`, all hashes checked, or in `.vmasm` text; told apart by the first
/// bytes. `blobDirectory` is where text finds the files that it names; may be empty. The
/// program may point into the mapped file.
Result<bytecode::Program> readProgram(const std::string& path, const std::string& blobDirectory);

/// Text of a program; with a directory, constants and images go to files in it.
Result<std::string> programText(const bytecode::Program& program, const std::string& blobDirectory);

}  // namespace baton::tools

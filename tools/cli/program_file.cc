#include "tools/cli/program_file.h"

#include <filesystem>

#include "bytecode/container/reader.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tools/cli/file.h"

namespace baton::tools {

Result<bytecode::Program> readProgram(const std::string& path, const std::string& blobDirectory) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, readFile(path));
  // Text begins with a letter or a comment, a container with a byte that no text has.
  if (bytes.empty() || bytecode::hasContainerMagic(bytes) || static_cast<unsigned char>(bytes[0]) >= 0x80) {
    auto program = bytecode::readExecutable(bytes);
    if (!program.has_value()) return std::move(program.error()).withContext(path);
    return program;
  }
  bytecode::VmasmParseOptions options;
  if (!blobDirectory.empty())
    options.readBlob = [&](std::string_view name) {
      return readFile(blobDirectory + "/" + std::string(name));
    };
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto program = bytecode::parseVmasm(text, options);
  if (program.has_value()) return program;
  // "m.vmasm:3:7: expected ..."
  return Error(program.error().code(), path + ":" + program.error().message());
}

Result<std::string> programText(const bytecode::Program& program, const std::string& blobDirectory) {
  bytecode::VmasmPrintOptions options;
  if (!blobDirectory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(blobDirectory, error);
    if (error) return Error(ErrorCode::Io, blobDirectory + ": cannot create: " + error.message());
    options.writeBlob = [&](const std::string& name, std::span<const std::byte> bytes) {
      return writeFile(blobDirectory + "/" + name, bytes);
    };
  }
  return bytecode::printVmasm(program, options);
}

}  // namespace baton::tools

#include "tools/cli/program_file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bytecode/container/layout.h"
#include "bytecode/container/reader.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tools/cli/file.h"

namespace baton::tools {

namespace {

/// The first bytes of a regular file; fewer when it is shorter, none when it cannot be read.
std::vector<std::byte> firstBytes(const std::string& path, size_t count) {
  std::vector<std::byte> bytes(count);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return bytes;
}

/// Whether "vmasm" stands first, after blanks and comments.
bool looksLikeVmasm(std::string_view text) {
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with("//")) return text.starts_with("vmasm");
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace

bool isParamsFile(const std::string& path) {
  const std::vector<std::byte> bytes = firstBytes(path, sizeof(bytecode::FileHeader));
  if (bytes.size() < sizeof(bytecode::FileHeader) || !bytecode::hasContainerMagic(bytes)) return false;
  bytecode::FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.kind == bytecode::ContainerKind::Params;
}

Result<bytecode::Program> readProgram(const std::string& path, const std::string& blobDirectory) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored) && bytecode::hasContainerMagic(firstBytes(path, 8)))
    return bytecode::openExecutable(path, {bytecode::OpenMode::Map, true});
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, readFile(path));
  // Text begins with a letter or a comment, a container with a byte that no text has.
  if (bytes.empty() || static_cast<unsigned char>(bytes[0]) >= 0x80) {
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
  if (!looksLikeVmasm(text))
    return Error(ErrorCode::Malformed, path + ": not a .vmexe, .vmparams or .vmasm file");
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

// Files: open, read whole, or mapped into memory.
#pragma once

#include <string>

#include "base/error.h"
#include "bytecode/owned_bytes.h"
#include "bytecode/program.h"

namespace baton::bytecode {

/// An open regular file. Errors are Io and begin with the name.
class FileHandle {
 public:
  static Result<FileHandle> open(const std::string& path);
  /// Its own duplicate of the caller's descriptor; `name` is for messages.
  static Result<FileHandle> duplicate(int descriptor, const std::string& name);
  FileHandle(FileHandle&& other) noexcept;
  FileHandle& operator=(FileHandle&& other) noexcept;
  ~FileHandle();

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }
  Result<size_t> sizeBytes() const;

 private:
  FileHandle(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  int descriptor_ = -1;
  std::string name_;
};

/// All bytes, from the start, whatever the position of the descriptor.
Result<std::unique_ptr<OwnedBytes>> readWhole(const FileHandle& file);

/// A file mapped read-only. It stays open as long as the map. One that somebody cuts while it
/// is mapped raises SIGBUS at the next access, as in any program; a copying load does not.
class FileMap : public ByteStorage {
 public:
  static Result<std::unique_ptr<FileMap>> map(FileHandle file);
  ~FileMap() override;

  std::span<const std::byte> bytes() const { return bytes_; }
  /// For mapping parts of the file with other rights.
  int descriptor() const { return file_.descriptor(); }

 private:
  explicit FileMap(FileHandle file) : file_(std::move(file)) {}

  FileHandle file_;
  std::span<const std::byte> bytes_;
};

/// The map that the program's bytes point into; null when there is none.
const FileMap* findFileMap(const Program& program);

}  // namespace baton::bytecode

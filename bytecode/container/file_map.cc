#include "bytecode/container/file_map.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace baton::bytecode {

namespace {

Error ioError(const std::string& name, const char* what) {
  return Error(ErrorCode::Io, fmt::format("{}: cannot {}: {}", name, what, std::strerror(errno)));
}

}  // namespace

Result<FileHandle> FileHandle::open(const std::string& path) {
  // A pipe that nobody writes to is refused like any other, instead of waiting for ever.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return ioError(path, "open");
  return FileHandle(descriptor, path);
}

Result<FileHandle> FileHandle::duplicate(int descriptor, const std::string& name) {
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return ioError(name, "duplicate the descriptor");
  return FileHandle(own, name);
}

FileHandle::FileHandle(FileHandle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), name_(std::move(other.name_)) {}

FileHandle& FileHandle::operator=(FileHandle&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(name_, other.name_);
  return *this;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<size_t> FileHandle::sizeBytes() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) return ioError(name_, "read the size");
  if (!S_ISREG(status.st_mode))
    return Error(ErrorCode::Io, fmt::format("{}: cannot read: not a regular file", name_));
  return static_cast<size_t>(status.st_size);
}

Result<std::unique_ptr<OwnedBytes>> readWhole(const FileHandle& file) {
  BATON_TRY_ASSIGN(const size_t size, file.sizeBytes());
  auto owned = std::make_unique<OwnedBytes>(size);
  size_t at = 0;
  while (at < size) {
    const ssize_t count =
        ::pread(file.descriptor(), owned->mutableBytes().data() + at, size - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return ioError(file.name(), "read");
    if (count == 0)
      return Error(ErrorCode::Io,
                   fmt::format("{}: cut while it was read: {} bytes of {}", file.name(), at, size));
    at += static_cast<size_t>(count);
  }
  return owned;
}

Result<std::unique_ptr<FileMap>> FileMap::map(FileHandle file) {
  std::unique_ptr<FileMap> map(new FileMap(std::move(file)));
  BATON_TRY_ASSIGN(const size_t size, map->file_.sizeBytes());
  if (size == 0) return map;
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, map->descriptor(), 0);
  if (address == MAP_FAILED) return ioError(map->file_.name(), "map");
  map->bytes_ = {static_cast<const std::byte*>(address), size};
  return map;
}

FileMap::~FileMap() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

const FileMap* findFileMap(const Program& program) {
  for (const auto& storage : program.storage)
    if (const auto* map = dynamic_cast<const FileMap*>(storage.get())) return map;
  return nullptr;
}

}  // namespace baton::bytecode

#include "tools/cli/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace baton::tools {

namespace {

/// What is read from something that is no regular file and may never end.
constexpr size_t kMaxStreamBytes = size_t{1} << 30;

Error systemError(const char* action, const std::string& path) {
  return Error(ErrorCode::Io, fmt::format("cannot {} {}: {}", action, path, std::strerror(errno)));
}

/// Closes on the way out.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd > STDERR_FILENO) ::close(fd);
  }
};

Result<void> writeAll(int fd, std::span<const std::byte> bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      // A reader that has seen enough is no failure.
      if (errno == EPIPE && fd == STDOUT_FILENO) return success();
      return systemError("write", path);
    }
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return success();
}

}  // namespace

Result<std::vector<std::byte>> readFile(const std::string& path) {
  const Descriptor file{path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return systemError("open", path);
  struct stat status = {};
  const bool isRegular = ::fstat(file.fd, &status) == 0 && S_ISREG(status.st_mode);
  std::vector<std::byte> bytes;
  size_t used = 0;
  for (;;) {
    if (!isRegular && used > kMaxStreamBytes)
      return Error(
          ErrorCode::LimitReached,
          fmt::format("{}: found more than {} bytes in what is no regular file, expected at most that", path,
                      kMaxStreamBytes));
    if (bytes.size() - used < 65536) bytes.resize(bytes.size() * 2 + 65536);
    const ssize_t got = ::read(file.fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return systemError("read", path);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

Result<std::string> readTextFile(const std::string& path) {
  BATON_TRY_ASSIGN(const std::vector<std::byte> bytes, readFile(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

namespace {

/// A device or a pipe: there is nothing to replace, and its node must stay.
Result<void> writeThrough(const std::string& path, std::span<const std::byte> bytes) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (file.fd < 0) return systemError("open", path);
  return writeAll(file.fd, bytes, path);
}

/// Where a chain of symbolic links ends, so that the file is replaced and not the link.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result = real;
  std::free(real);
  return result;
}

}  // namespace

Result<void> writeFile(const std::string& path, std::span<const std::byte> bytes) {
  if (path == "-") {
    std::fflush(stdout);
    return writeAll(STDOUT_FILENO, bytes, "standard output");
  }
  struct stat old;
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return systemError("write", path);
  }
  if (exists && !S_ISREG(old.st_mode)) return writeThrough(path, bytes);
  const std::string target = exists ? resolved(path) : path;
  std::string temporary = target + ".XXXXXX";
  const Descriptor file{::mkstemp(temporary.data())};
  if (file.fd < 0) return systemError("create a file beside", path);
  // mkstemp makes files that only their owner may read; give what the old file or the umask allows.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? old.st_mode & 0777 : 0666 & ~mask;
  Result<void> result = writeAll(file.fd, bytes, path);
  if (result && (::fchmod(file.fd, mode) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0))
    result = systemError("write", path);
  if (!result) ::unlink(temporary.c_str());
  return result;
}

Result<void> writeTextFile(const std::string& path, const std::string& text) {
  return writeFile(path, std::as_bytes(std::span(text)));
}

}  // namespace baton::tools

#include "kernels/abi/image.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace baton {

namespace {

/// What errno says; strerror_r's variants differ between systems, so the number is kept too.
std::string systemReason(int error) { return fmt::format("{} (errno {})", strerrordesc_np(error), error); }

Result<void> checkSize(uint64_t sizeBytes) {
  constexpr uint64_t kMaxImageBytes = uint64_t{1} << 32;
  if (sizeBytes == 0 || sizeBytes > kMaxImageBytes)
    return Error(ErrorCode::Malformed,
                 fmt::format("a native image of {} bytes: expected 1 to {}", sizeBytes, kMaxImageBytes));
  return success();
}

}  // namespace

Result<NativeCode> NativeCode::map(int fileDescriptor, uint64_t offset, uint64_t sizeBytes) {
  BATON_TRY(checkSize(sizeBytes));
  const auto pageSize = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (offset % pageSize != 0)
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("image offset {} is not a multiple of the page size {}", offset, pageSize));
  struct stat status = {};
  if (fstat(fileDescriptor, &status) != 0)
    return Error(ErrorCode::Io, fmt::format("cannot inspect the file of an image: {}", systemReason(errno)));
  // Pages past the end of the file would map, and fault when they are touched.
  const auto fileSize = static_cast<uint64_t>(status.st_size);
  if (offset > fileSize || sizeBytes > fileSize - offset)
    return Error(ErrorCode::Malformed, fmt::format("an image of {} bytes at {} exceeds the file of {} bytes",
                                                   sizeBytes, offset, fileSize));
  void* const base = mmap(nullptr, sizeBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileDescriptor,
                          static_cast<off_t>(offset));
  if (base == MAP_FAILED)
    return Error(ErrorCode::Io, fmt::format("cannot map an image for execution: {}", systemReason(errno)));
  return NativeCode(base, sizeBytes);
}

Result<NativeCode> NativeCode::copy(std::span<const std::byte> image) {
  BATON_TRY(checkSize(image.size()));
  void* const base = mmap(nullptr, image.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return Error(ErrorCode::OutOfMemory,
                 fmt::format("cannot get {} bytes for an image: {}", image.size(), systemReason(errno)));
  NativeCode code(base, image.size());
  std::memcpy(base, image.data(), image.size());
  if (mprotect(base, image.size(), PROT_READ | PROT_EXEC) != 0)
    return Error(ErrorCode::Io, fmt::format("cannot make an image executable: {}", systemReason(errno)));
  return code;
}

NativeCode::NativeCode(NativeCode&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), size_(std::exchange(other.size_, 0)) {}

NativeCode& NativeCode::operator=(NativeCode&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(size_, other.size_);
  return *this;
}

NativeCode::~NativeCode() {
  if (base_ != nullptr) munmap(base_, size_);
}

Result<BatonKernelFunction> NativeCode::entry(uint64_t offset) const {
  if (offset >= size_)
    return Error(ErrorCode::Malformed,
                 fmt::format("kernel entry {} is outside its image of {} bytes", offset, size_));
  return reinterpret_cast<BatonKernelFunction>(reinterpret_cast<uintptr_t>(base_) + offset);
}

}  // namespace baton

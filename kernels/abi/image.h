// Native kernel images in memory: read and execute, never write and execute at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "baton/kernel_abi.h"

namespace baton {

/// Owns the mapping; functions from it are valid as long as it lives. Immutable: any number of
/// threads may run the code.
class NativeCode {
 public:
  /// Maps `sizeBytes` bytes at `offset` (a multiple of the page size) of an open file, read
  /// and execute. The descriptor may be closed afterwards; the file must not change.
  static Result<NativeCode> map(int fileDescriptor, uint64_t offset, uint64_t sizeBytes);
  /// Copies the image to anonymous pages, which then become read-execute.
  static Result<NativeCode> copy(std::span<const std::byte> image);

  NativeCode(NativeCode&& other) noexcept;
  NativeCode& operator=(NativeCode&& other) noexcept;
  ~NativeCode();

  uint64_t sizeBytes() const { return size_; }
  /// The kernel that begins at `offset`; an error when that is outside the image.
  Result<BatonKernelFunction> entry(uint64_t offset) const;

 private:
  NativeCode(void* base, uint64_t size) : base_(base), size_(size) {}
  void* base_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace baton

// Bytes that a Program owns, aligned as kernels want them.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "bytecode/program.h"

namespace baton::bytecode {

/// Alignment of constants in memory, where they are not mapped from a file.
inline constexpr size_t kOwnedBytesAlignment = 64;

class OwnedBytes : public ByteStorage {
 public:
  /// Contents undefined.
  explicit OwnedBytes(size_t sizeBytes)
      : data_(static_cast<std::byte*>(::operator new(sizeBytes, std::align_val_t(kOwnedBytesAlignment)))),
        sizeBytes_(sizeBytes) {}
  explicit OwnedBytes(std::span<const std::byte> bytes) : OwnedBytes(bytes.size()) {
    if (!bytes.empty()) std::memcpy(data_.get(), bytes.data(), bytes.size());
  }
  std::span<std::byte> mutableBytes() { return {data_.get(), sizeBytes_}; }
  std::span<const std::byte> bytes() const { return {data_.get(), sizeBytes_}; }

 private:
  struct Delete {
    void operator()(std::byte* data) const {
      ::operator delete(data, std::align_val_t(kOwnedBytesAlignment));
    }
  };
  std::unique_ptr<std::byte, Delete> data_;
  size_t sizeBytes_;
};

}  // namespace baton::bytecode

// Bounds-checked reading of little-endian bytes, and appending of them. Everything that is
// parsed from a file goes through ByteReader.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace baton {

static_assert(std::endian::native == std::endian::little, "byte order conversion is not implemented");

/// What is stored by value: numbers and enumerations of fixed width.
template <class T>
concept ByteValue = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// A position in bytes that somebody else owns. After an error the position is unchanged.
/// Errors are Malformed and name the offset.
class ByteReader {
 public:
  /// `baseOffset` is what messages add to positions: where the bytes lie in their file.
  explicit ByteReader(std::span<const std::byte> bytes, size_t baseOffset = 0)
      : bytes_(bytes), baseOffset_(baseOffset) {}

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool atEnd() const { return position_ == bytes_.size(); }

  template <ByteValue T>
  Result<T> read() {
    if (remaining() < sizeof(T)) [[unlikely]]
      return tooShort(sizeof(T));
    T value;
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  /// The next bytes, as a view.
  Result<std::span<const std::byte>> readBytes(size_t sizeBytes);
  Result<std::string_view> readText(size_t sizeBytes);
  Result<void> skip(size_t sizeBytes);
  Result<void> seek(size_t position);
  /// A reader of the next bytes, which this one skips.
  Result<ByteReader> sub(size_t sizeBytes);

 private:
  Error tooShort(size_t neededBytes) const;

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  size_t baseOffset_ = 0;
};

/// Appends to bytes of its own.
class ByteWriter {
 public:
  size_t size() const { return bytes_.size(); }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() && { return std::move(bytes_); }

  template <ByteValue T>
  void write(T value) {
    append(&value, sizeof(T));
  }
  void writeBytes(std::span<const std::byte> bytes) { append(bytes.data(), bytes.size()); }
  void writeText(std::string_view text) { append(text.data(), text.size()); }
  void writeZeros(size_t sizeBytes) { bytes_.resize(bytes_.size() + sizeBytes); }
  /// Zeros up to a multiple of `alignment` (a power of two).
  void alignTo(size_t alignment) { writeZeros((alignment - size() % alignment) % alignment); }

  /// Replaces what was written at `offset` (within size()).
  template <ByteValue T>
  void patch(size_t offset, T value) {
    BATON_CHECK(offset <= size() && size() - offset >= sizeof(T));
    std::memcpy(bytes_.data() + offset, &value, sizeof(T));
  }

 private:
  void append(const void* data, size_t sizeBytes) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + sizeBytes);
  }

  std::vector<std::byte> bytes_;
};

}  // namespace baton

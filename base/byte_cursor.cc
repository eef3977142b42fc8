#include "base/byte_cursor.h"

#include <fmt/format.h>

namespace baton {

Error ByteReader::tooShort(size_t neededBytes) const {
  return Error(ErrorCode::Malformed, fmt::format("ends too early: {} bytes needed at offset {}, {} left",
                                                 neededBytes, baseOffset_ + position_, remaining()));
}

Result<std::span<const std::byte>> ByteReader::readBytes(size_t sizeBytes) {
  if (sizeBytes > remaining()) return tooShort(sizeBytes);
  const auto view = bytes_.subspan(position_, sizeBytes);
  position_ += sizeBytes;
  return view;
}

Result<std::string_view> ByteReader::readText(size_t sizeBytes) {
  BATON_TRY_ASSIGN(const auto view, readBytes(sizeBytes));
  return std::string_view(reinterpret_cast<const char*>(view.data()), view.size());
}

Result<void> ByteReader::skip(size_t sizeBytes) {
  if (sizeBytes > remaining()) return tooShort(sizeBytes);
  position_ += sizeBytes;
  return success();
}

Result<void> ByteReader::seek(size_t position) {
  if (position > bytes_.size())
    return Error(ErrorCode::Malformed, fmt::format("offset {} lies beyond the end at {}",
                                                   baseOffset_ + position, baseOffset_ + bytes_.size()));
  position_ = position;
  return success();
}

Result<ByteReader> ByteReader::sub(size_t sizeBytes) {
  const size_t start = baseOffset_ + position_;
  BATON_TRY_ASSIGN(const auto view, readBytes(sizeBytes));
  return ByteReader(view, start);
}

}  // namespace baton

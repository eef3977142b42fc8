// Memory with pages around it that nobody may touch: what reads or writes outside of it dies.
#pragma once

#include <cstddef>

namespace baton::ops::test {

class GuardedBuffer {
 public:
  /// Which of its ends lies at a forbidden page; `Misaligned`: it starts `alignmentBytes` after the page
  /// does, so that it is aligned to those and to no more.
  enum class Side { Start, End, Misaligned };
  static constexpr Side kSides[] = {Side::End, Side::Start, Side::Misaligned};

  /// At least `alignmentBytes` (a power of two) aligned; with a size that is no multiple of it, the
  /// end has that much less to it.
  GuardedBuffer(size_t sizeBytes, size_t alignmentBytes, Side side);
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&&) = delete;
  ~GuardedBuffer();

  std::byte* data() const { return data_; }

 private:
  void* pages_ = nullptr;
  size_t pagesBytes_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace baton::ops::test

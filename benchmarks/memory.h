// Memory for operands of what is measured.
#pragma once

#include <cstddef>
#include <span>

namespace baton::benchmarks {

/// Memory of one operand, zero at first, in pages that are there.
class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t sizeBytes);
  Memory(Memory&& other) noexcept { *this = std::move(other); }
  Memory& operator=(Memory&& other) noexcept;
  ~Memory();

  void* data() const { return data_; }
  size_t sizeBytes() const { return size_; }
  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data_), size_ / sizeof(T)};
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
  void* mapped_ = nullptr;
  size_t mappedSize_ = 0;
};

}  // namespace baton::benchmarks

#include "benchmarks/memory.h"

#include <sys/mman.h>

#include <utility>

#include "base/error.h"

namespace baton::benchmarks {

Memory::Memory(size_t sizeBytes) : size_(sizeBytes) {
  if (size_ == 0) return;
  void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  BATON_CHECK(data != MAP_FAILED);  // nothing can be measured without
  ::madvise(data, size_, MADV_HUGEPAGE);
  for (size_t at = 0; at < size_; at += 4096) static_cast<volatile char*>(data)[at] = 0;
  data_ = data;
}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Memory::~Memory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace baton::benchmarks

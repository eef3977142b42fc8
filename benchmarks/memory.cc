#include "benchmarks/memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "base/error.h"

namespace baton::benchmarks {

namespace {

/// Whole huge pages: small ones lie in memory as chance has it, and what chance puts into the same sets of a
/// cache is slow for as long as a process runs.
constexpr size_t kHugePage = 2 << 20;

}  // namespace

Memory::Memory(size_t sizeBytes) : size_(sizeBytes) {
  if (size_ == 0) return;
  mappedSize_ = (size_ + 2 * kHugePage - 1) / kHugePage * kHugePage;
  mapped_ = ::mmap(nullptr, mappedSize_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  BATON_CHECK(mapped_ != MAP_FAILED);  // nothing can be measured without
  const auto address = reinterpret_cast<uintptr_t>(mapped_);
  data_ = static_cast<char*>(mapped_) + (kHugePage - address % kHugePage) % kHugePage;
  ::madvise(mapped_, mappedSize_, MADV_HUGEPAGE);
  for (size_t at = 0; at < size_; at += 4096) static_cast<volatile char*>(data_)[at] = 0;
}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
  std::swap(mappedSize_, other.mappedSize_);
  return *this;
}

Memory::~Memory() {
  if (mapped_ != nullptr) ::munmap(mapped_, mappedSize_);
}

}  // namespace baton::benchmarks

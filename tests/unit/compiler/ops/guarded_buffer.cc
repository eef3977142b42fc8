#include "tests/unit/compiler/ops/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"

namespace baton::ops::test {

GuardedBuffer::GuardedBuffer(size_t sizeBytes, size_t alignmentBytes, Side side) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t shift = side == Side::Misaligned ? alignmentBytes : 0;
  const size_t insideBytes = (sizeBytes + shift + page - 1) / page * page;
  pagesBytes_ = insideBytes + 2 * page;
  pages_ = mmap(nullptr, pagesBytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  BATON_CHECK(pages_ != MAP_FAILED);
  std::byte* inside = static_cast<std::byte*>(pages_) + page;
  if (insideBytes > 0) BATON_CHECK(mprotect(inside, insideBytes, PROT_READ | PROT_WRITE) == 0);
  const size_t alignedBytes = (sizeBytes + alignmentBytes - 1) / alignmentBytes * alignmentBytes;
  data_ = side == Side::End ? inside + insideBytes - alignedBytes : inside + shift;
}

GuardedBuffer::GuardedBuffer(GuardedBuffer&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)), pagesBytes_(other.pagesBytes_), data_(other.data_) {}

GuardedBuffer::~GuardedBuffer() {
  if (pages_ != nullptr) munmap(pages_, pagesBytes_);
}

}  // namespace baton::ops::test

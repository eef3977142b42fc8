#include "allocators/failing_allocator.h"

#include "allocators/out_of_memory.h"

namespace baton {

void FailingAllocator::refuse(uint64_t n, Mode mode) {
  requests_ = 0;
  mode_ = mode;
  refused_ = n;
}

Result<void*> FailingAllocator::allocate(size_t sizeBytes, size_t alignment) {
  const uint64_t number = requests_.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint64_t refused = refused_.load(std::memory_order_relaxed);
  if (refused != 0 && (number == refused || (number > refused && mode_ == Mode::FromThenOn)))
    return outOfMemory(sizeBytes, statistics(), Error(ErrorCode::OutOfMemory, "refused on purpose"));
  return below_.allocate(sizeBytes, alignment);
}

}  // namespace baton

#include "compiler/frontend/stack_limit.h"

#include <pthread.h>

namespace baton::frontend {

namespace {

constexpr uintptr_t kReserveBytes = 128 * 1024;

}  // namespace

StackLimit::StackLimit() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* lowest = nullptr;
  size_t sizeBytes = 0;
  if (pthread_attr_getstack(&attributes, &lowest, &sizeBytes) == 0)
    lowest_ = reinterpret_cast<uintptr_t>(lowest) + kReserveBytes;
  pthread_attr_destroy(&attributes);
}

bool StackLimit::isNear() const { return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < lowest_; }

}  // namespace baton::frontend

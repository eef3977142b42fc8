// Under the address sanitizer, memory that an allocator holds back is marked, so that a use
// after release is found though the system still considers the memory ours.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define BATON_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BATON_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef BATON_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace baton {

#ifdef BATON_ADDRESS_SANITIZER
inline void poison(void* data, size_t sizeBytes) { __asan_poison_memory_region(data, sizeBytes); }
inline void unpoison(void* data, size_t sizeBytes) { __asan_unpoison_memory_region(data, sizeBytes); }
#else
inline void poison(void*, size_t) {}
inline void unpoison(void*, size_t) {}
#endif

}  // namespace baton

/* The binary interface of kernels: compiled, built in, or registered by an embedding
 * program. C99. A kernel never allocates, never throws and writes only its outputs. */
#ifndef BATON_KERNEL_ABI_H
#define BATON_KERNEL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BATON_KERNEL_ABI_VERSION 1

typedef struct BatonKernelContext BatonKernelContext;

/** A part of a parallel loop: handles the indices [begin, end). */
typedef int32_t (*BatonParallelBody)(const BatonKernelContext* ctx, void* closure, int64_t begin,
                                     int64_t end);

/** What a kernel may use from outside. Valid for the duration of one kernel call. */
struct BatonKernelContext {
  uint32_t struct_size; /**< sizeof of the structure the caller knows */
  uint32_t abi_version; /**< BATON_KERNEL_ABI_VERSION */
  void* user;           /**< the caller's; opaque to kernels */

  /** Runs body over [0, extent) in pieces of at least `grain`, on this thread and others.
   * Returns 0, or the first non-zero value a piece returned. */
  int32_t (*parallel_for)(const BatonKernelContext* ctx, int64_t extent, int64_t grain,
                          BatonParallelBody body, void* closure);

  /** Scratch memory, 64-byte aligned, freed when the kernel call returns; NULL when it
   * cannot be had (the kernel then returns BATON_KERNEL_OUT_OF_MEMORY). */
  void* (*scratch)(const BatonKernelContext* ctx, uint64_t size_bytes);

  /** Records why the kernel fails; the kernel then returns BATON_KERNEL_FAILED. `message`
   * is an index into the messages of the kernel's descriptor, `values` fill its {0}, {1}. */
  void (*fail)(const BatonKernelContext* ctx, uint32_t message, const int64_t* values, uint32_t value_count);
};

enum {
  BATON_KERNEL_OK = 0,
  BATON_KERNEL_FAILED = 1,
  BATON_KERNEL_OUT_OF_MEMORY = 2,
  BATON_KERNEL_PENDING = 3, /**< registered kernels only: suspends the call */
};

/** buffers: inputs, then outputs; dense, row-major. scalars: inputs (the descriptor's
 * extents, then its scalar operands), then outputs; floats as bits in the low end. */
typedef int32_t (*BatonKernelFunction)(const BatonKernelContext* ctx, void* const* buffers, int64_t* scalars);

#ifdef __cplusplus
}
#endif
#endif

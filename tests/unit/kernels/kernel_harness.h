// Runs a kernel, interpreted or native, on buffers of its own: for the tests of this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "baton/kernel_abi.h"

namespace baton::testing {

/// A kernel context that serves scratch from the heap, runs parallel loops in two pieces on
/// this thread, and remembers what failed.
class TestContext {
 public:
  TestContext() {
    context_.struct_size = sizeof context_;
    context_.abi_version = BATON_KERNEL_ABI_VERSION;
    context_.user = this;
    context_.parallel_for = [](const BatonKernelContext* ctx, int64_t extent, int64_t grain,
                               BatonParallelBody body, void* closure) -> int32_t {
      of(ctx).grain = grain;
      const int64_t middle = extent / 2;
      if (const int32_t status = body(ctx, closure, 0, middle)) return status;
      return body(ctx, closure, middle, extent);
    };
    context_.scratch = [](const BatonKernelContext* ctx, uint64_t sizeBytes) -> void* {
      if (sizeBytes > (uint64_t{1} << 30)) return nullptr;
      auto& blocks = of(ctx).scratch_;
      blocks.emplace_back(static_cast<std::byte*>(::operator new(sizeBytes + 1, std::align_val_t{64})));
      return blocks.back().get();
    };
    context_.fail = [](const BatonKernelContext* ctx, uint32_t message, const int64_t* values,
                       uint32_t count) {
      of(ctx).message = message;
      of(ctx).values.assign(values, values + count);
    };
  }
  TestContext(const TestContext&) = delete;
  TestContext& operator=(const TestContext&) = delete;
  const BatonKernelContext* get() const { return &context_; }

  uint32_t message = UINT32_MAX - 1;
  std::vector<int64_t> values;
  int64_t grain = 0;

 private:
  struct AlignedDelete {
    void operator()(std::byte* block) const { ::operator delete(block, std::align_val_t{64}); }
  };
  static TestContext& of(const BatonKernelContext* ctx) { return *static_cast<TestContext*>(ctx->user); }
  BatonKernelContext context_{};
  std::vector<std::unique_ptr<std::byte, AlignedDelete>> scratch_;
};

/// The elements of a vector as bytes and back.
template <class T>
std::vector<std::byte> bytesOf(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <class T>
std::vector<T> elementsOf(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Bit equality of elements, in which all NaNs are one value.
inline bool sameElements(DType type, std::span<const std::byte> a, std::span<const std::byte> b) {
  if (a.size() != b.size()) return false;
  for (size_t at = 0; at < a.size(); at += static_cast<size_t>(sizeBytes(type))) {
    const uint64_t x = loadScalar(a.data() + at, type);
    const uint64_t y = loadScalar(b.data() + at, type);
    if (x == y) continue;
    const auto isNan = [&](uint64_t bits) {
      const uint64_t wide = convertScalar(bits, type, DType::F64);
      return isFloat(type) && scalarFromBits<double>(wide) != scalarFromBits<double>(wide);
    };
    if (!isNan(x) || !isNan(y)) return false;
  }
  return true;
}

}  // namespace baton::testing

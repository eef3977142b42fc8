// One kernel as native code, called through the binary interface: no machine around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "baton/kernel_abi.h"
#include "benchmarks/memory.h"
#include "kernels/abi/descriptor.h"
#include "kernels/abi/image.h"

namespace baton::benchmarks {

/// An operand of a call: its type, and its extents as numbers.
struct Operand {
  DType dtype = DType::F32;
  std::vector<int64_t> extents;

  int64_t count() const;
  size_t sizeBytes() const { return static_cast<size_t>(count() * baton::sizeBytes(dtype)); }
};

/// A kernel context of one thread: parallel loops run here and in one piece, scratch is kept.
class SerialContext {
 public:
  SerialContext();
  SerialContext(const SerialContext&) = delete;
  SerialContext& operator=(const SerialContext&) = delete;

  const BatonKernelContext* get() const { return &context_; }
  /// To be called when a kernel has returned.
  void reset() { used_ = 0; }

 private:
  BatonKernelContext context_{};
  std::vector<Memory> scratch_;
  size_t used_ = 0;
};

class NativeKernel {
 public:
  /// The one kernel that `@main` of this program text becomes, at level 3 and for this machine.
  static Result<NativeKernel> compile(std::string text);

  const KernelDescriptor& descriptor() const { return *descriptor_; }
  BatonKernelFunction function() const { return function_; }

 private:
  std::shared_ptr<const KernelDescriptor> descriptor_;
  std::shared_ptr<NativeCode> code_;
  BatonKernelFunction function_ = nullptr;
};

/// A kernel with its operands: `run` is one call.
class BoundKernel {
 public:
  /// `operands`: inputs, then outputs of rank 1 and more, in the order of the descriptor, with their
  /// memory; types and extents are checked.
  static Result<BoundKernel> bind(const NativeKernel& kernel, std::span<const Operand> operands,
                                  std::span<void* const> buffers);

  /// What the kernel returns: BATON_KERNEL_OK.
  int32_t run() {
    const int32_t status = kernel_.function()(context_->get(), buffers_.data(), scalars_.data());
    context_->reset();
    return status;
  }
  /// A scalar result of the last call, as bits.
  uint64_t scalarOutput(size_t index) const {
    return static_cast<uint64_t>(
        scalars_[scalars_.size() - kernel_.descriptor().scalarOutputs.size() + index]);
  }

 private:
  explicit BoundKernel(const NativeKernel& kernel) : kernel_(kernel) {}

  NativeKernel kernel_;
  std::unique_ptr<SerialContext> context_ = std::make_unique<SerialContext>();
  std::vector<void*> buffers_;
  std::vector<int64_t> scalars_;
};

}  // namespace baton::benchmarks

// Boxes, how far they overlap, and their order by score: what the kernels that suppress boxes share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "kernels/abi/descriptor.h"
#include "kernels/library/library.h"
#include "kernels/library/sort_key.h"

namespace baton::library {

/// The first of two that are equal or not ordered.
template <class T>
T lesser(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T greater(T a, T b) {
  return a < b ? b : a;
}

/// Two corners, in any order.
template <class T>
struct Box {
  T left, top, right, bottom;
  explicit Box(const T* c)
      : left(lesser(c[0], c[2])),
        top(lesser(c[1], c[3])),
        right(greater(c[0], c[2])),
        bottom(greater(c[1], c[3])) {}
  T area() const { return (right - left) * (bottom - top); }
};

/// What two boxes share, as a part of what they cover; 0 where they cover nothing.
template <class T>
T overlap(const Box<T>& a, const Box<T>& b) {
  const T width = greater(T{0}, lesser(a.right, b.right) - greater(a.left, b.left));
  const T height = greater(T{0}, lesser(a.bottom, b.bottom) - greater(a.top, b.top));
  const T shared = height * width;
  const T covered = a.area() + b.area() - shared;
  return covered <= 0 ? T{0} : shared / covered;
}

/// The place of a score from the greatest down, NaN first; equal ones by index.
struct Ranked {
  uint64_t key;
  int64_t index;
  friend auto operator<=>(const Ranked&, const Ranked&) = default;
};
template <class T>
Ranked ranked(T score, int64_t index) {
  return {static_cast<uint64_t>(~sortKey(score)), index};
}

/// Memory for `count` of them; null when there is none, or when it is more than can be said.
template <class T>
T* scratchFor(const BatonKernelContext* ctx, int64_t count) {
  return static_cast<T*>(ctx->scratch(ctx, static_cast<uint64_t>(std::max<int64_t>(count, 1)) * sizeof(T)));
}

/// Calls `body(batch)` for each, on several threads; each is worth one.
template <class Body>
int32_t forEachBatch(const BatonKernelContext* ctx, int64_t count, const Body& body) {
  const auto run = [](const BatonKernelContext*, void* closure, int64_t begin, int64_t end) -> int32_t {
    for (int64_t batch = begin; batch < end; ++batch) (*static_cast<const Body*>(closure))(batch);
    return BATON_KERNEL_OK;
  };
  return ctx->parallel_for(ctx, count, 1, run, const_cast<Body*>(&body));
}

/// Describes a kernel: symbols are numbered in the order in which they are added.
class Description {
 public:
  DimExpr extent(std::string name, uint32_t operand, uint32_t axis) {
    return symbol({std::move(name), KernelSymbol::From::Operand, operand, axis});
  }
  /// The value of a scalar, which is an int64.
  DimExpr scalar(std::string name, uint32_t index) {
    return symbol({std::move(name), KernelSymbol::From::Scalar, index, 0});
  }
  Description& input(DType dtype, std::vector<DimExpr> extents) {
    descriptor_.inputs.push_back(operand(dtype, std::move(extents)));
    return *this;
  }
  Description& output(DType dtype, std::vector<DimExpr> extents) {
    descriptor_.outputs.push_back(operand(dtype, std::move(extents)));
    return *this;
  }
  void require(DimExpr a, Relation relation, DimExpr b) {
    descriptor_.constraints.push_back({std::move(a), relation, std::move(b)});
  }
  LibraryKernel kernel(std::string_view algorithm, std::vector<DType> scalars, BatonKernelFunction function) {
    std::vector<DType> tensors;
    for (const KernelOperand& each : descriptor_.inputs) tensors.push_back(each.dtype);
    for (const KernelOperand& each : descriptor_.outputs) tensors.push_back(each.dtype);
    descriptor_.name = kernelName(algorithm, tensors);
    descriptor_.scalarInputs = std::move(scalars);
    return {std::move(descriptor_), function};
  }

 private:
  DimExpr symbol(KernelSymbol symbol) {
    descriptor_.symbols.push_back(std::move(symbol));
    return DimExpr::symbol(DimSymbol(static_cast<uint32_t>(descriptor_.symbols.size() - 1)));
  }
  static KernelOperand operand(DType dtype, std::vector<DimExpr> extents) {
    KernelOperand result;
    result.dtype = dtype;
    result.alignmentBytes = static_cast<uint32_t>(sizeBytes(dtype));
    result.extents = std::move(extents);
    return result;
  }
  KernelDescriptor descriptor_;
};

}  // namespace baton::library

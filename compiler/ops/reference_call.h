// What the reference versions of the operators are given (types of the functions: op.h),
// and how they walk over tensors.
#pragma once

#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "compiler/ir/op.h"
#include "compiler/ops/reference.h"

namespace baton::ops {

struct ScalarReferenceCall {
  const OpCall& call;
  std::span<const DType> inputTypes;
  DType resultType;
};

/// Results are allocated, with the shapes that the relations give, and zero. One with an extent that
/// only the run tells has no shape yet.
struct ReferenceCall {
  const OpCall& call;
  std::span<const TensorView> inputs;
  std::span<ReferenceResult> results;
  DimsContext& relations;
  uint64_t& work;

  /// Makes a result that has no shape yet.
  Result<void> allocate(size_t result, std::vector<int64_t> shape) const;

  int64_t extent(size_t input, size_t axis) const { return inputs[input].shape[axis]; }
  uint64_t load(size_t input, int64_t linear) const;
  uint64_t load(size_t input, std::span<const int64_t> index) const;
  void store(size_t result, int64_t linear, uint64_t bits) const;
  void store(size_t result, std::span<const int64_t> index, uint64_t bits) const;
};

int64_t elementCount(std::span<const int64_t> shape);
int64_t linearIndex(std::span<const int64_t> shape, std::span<const int64_t> index);
/// In row-major order; an extent of zero means no calls, rank 0 one.
void forEachPosition(std::span<const int64_t> shape, const std::function<void(std::span<const int64_t>)>& f);
/// Calls `f(at, column)` with the elements of the first input along an axis, and the index of the first
/// of them, which `f` may change. An extent of zero means no calls.
void forEachColumn(const ReferenceCall& call, size_t axis,
                   const std::function<void(std::vector<int64_t>& at, std::span<const uint64_t> column)>& f);
/// The index of a tensor that broadcasts to the shape of `index`.
std::vector<int64_t> broadcastIndex(std::span<const int64_t> shape, std::span<const int64_t> index);

Error programError(const OpCall& call, const std::string& message);

/// Calls `f(T...)` with the scalars as the C++ type in which arithmetic on `type` is done, and
/// gives the result in 64-bit form, rounded once where `type` is a storage type.
template <class F, size_t... kIndices>
uint64_t computeScalar(DType type, std::span<const uint64_t> inputs, F&& f,
                       std::index_sequence<kIndices...>) {
  return dispatchDType(type, [&](auto tag) -> uint64_t {
    using Storage = typename decltype(tag)::type;
    constexpr bool kIsSmall = std::is_same_v<Storage, Half> || std::is_same_v<Storage, BFloat16>;
    const auto load = [&](size_t i) {
      const Storage value = scalarFromBits<Storage>(inputs[i]);
      if constexpr (kIsSmall)
        return toFloat(value);
      else
        return value;
    };
    const auto result = f(load(kIndices)...);
    using R = std::remove_cv_t<decltype(result)>;
    if constexpr (kIsSmall && std::is_same_v<R, float>) {
      if constexpr (std::is_same_v<Storage, Half>)
        return scalarBits(toHalf(result));
      else
        return scalarBits(toBFloat16(result));
    } else {
      return scalarBits(result);
    }
  });
}
template <class F>
uint64_t computeUnary(DType type, std::span<const uint64_t> inputs, F&& f) {
  return computeScalar(type, inputs, std::forward<F>(f), std::make_index_sequence<1>());
}
template <class F>
uint64_t computeBinary(DType type, std::span<const uint64_t> inputs, F&& f) {
  return computeScalar(type, inputs, std::forward<F>(f), std::make_index_sequence<2>());
}

/// Type in which sums of a type are held.
constexpr DType accumulationType(DType type) {
  return type == DType::F16 || type == DType::BF16 ? DType::F32 : type;
}

}  // namespace baton::ops

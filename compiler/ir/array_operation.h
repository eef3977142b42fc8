// What programs do with arrays, as a table: name in text, number of operands, whether it can fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace baton::ir {

/// An operation that gives an array leaves the one that it was given as it is.
enum class ArrayOperation : uint8_t {
  New,      ///< () -> Array[A], without elements
  Push,     ///< (Array[A], A) -> Array[A]
  Get,      ///< (Array[A], int32) -> A
  Set,      ///< (Array[A], int32, A) -> Array[A]
  Length,   ///< Array[A] -> int32
  Stack,    ///< Array[Tensor[(d...), t]] -> Tensor[(length, d...), t]
  Concat,   ///< Array[Tensor[(?, d...), t]] -> Tensor[(?, d...), t]
  Unstack,  ///< Tensor[(n, d...), t] -> Array[Tensor[(d...), t]]
  Split,    ///< (Tensor[(n, d...), t], Tensor[(m,), int32]) -> Array[Tensor[(?, d...), t]]
};

struct ArrayOperationInfo {
  std::string_view name;
  size_t operandCount;
  /// With a program error that depends on values.
  bool canFail;
};

const ArrayOperationInfo& infoOf(ArrayOperation operation);
/// By number of the operation.
std::span<const ArrayOperationInfo> allArrayOperations();
std::optional<ArrayOperation> findArrayOperation(std::string_view name);

}  // namespace baton::ir

// Kinds: what a register may hold. Bytecode is monomorphic, so a kind says everything that
// the instructions need and nothing is looked up at run time.
#pragma once

#include <cstdint>
#include <optional>

#include "base/dtype.h"
#include "base/strong_index.h"

namespace baton::bytecode {

/// Of a tensor.
inline constexpr uint8_t kMaxRank = 32;

struct FunctionIndexTag;
struct KernelIndexTag;
struct ConstantIndexTag;
struct TypeIndexTag;
struct KindIndexTag;
struct SignatureIndexTag;
struct MessageIndexTag;
using FunctionIndex = StrongIndex<FunctionIndexTag>;
using KernelIndex = StrongIndex<KernelIndexTag>;
using ConstantIndex = StrongIndex<ConstantIndexTag>;
using TypeIndex = StrongIndex<TypeIndexTag>;
using KindIndex = StrongIndex<KindIndexTag>;
using SignatureIndex = StrongIndex<SignatureIndexTag>;
using MessageIndex = StrongIndex<MessageIndexTag>;

/// Values are on disk: append only.
enum class KindTagValue : uint8_t {
  Scalar = 0,
  Tensor = 1,
  Adt = 2,
  Closure = 3,
  Cell = 4,
  Array = 5,
  Storage = 6
};

/// A small value; equality is structural.
struct Kind {
  KindTagValue tag = KindTagValue::Scalar;
  DType dtype = DType::Bool;  ///< Scalar, Tensor
  uint8_t rank = 0;           ///< Tensor
  uint8_t device = 0;         ///< Tensor, Storage
  uint32_t index = 0;  ///< Adt: TypeIndex; Closure: SignatureIndex; Cell, Array: KindIndex of the content
  /// Closure whose function is known, as make_closure and r0 of a closure's function give
  /// it: only from such a one can captures be read. It may stand wherever the plain kind is expected.
  std::optional<FunctionIndex> function;

  bool isScalar() const { return tag == KindTagValue::Scalar; }
  friend bool operator==(const Kind&, const Kind&) = default;

  static Kind scalar(DType dtype) { return {.tag = KindTagValue::Scalar, .dtype = dtype}; }
  static Kind tensor(DType dtype, uint8_t rank, uint8_t device = 0) {
    return {.tag = KindTagValue::Tensor, .dtype = dtype, .rank = rank, .device = device};
  }
  static Kind adt(TypeIndex type) { return {.tag = KindTagValue::Adt, .index = type.value()}; }
  static Kind closure(SignatureIndex signature, std::optional<FunctionIndex> function = {}) {
    return {.tag = KindTagValue::Closure, .index = signature.value(), .function = function};
  }
  static Kind cell(KindIndex content) { return {.tag = KindTagValue::Cell, .index = content.value()}; }
  static Kind array(KindIndex content) { return {.tag = KindTagValue::Array, .index = content.value()}; }
  static Kind storage(uint8_t device = 0) { return {.tag = KindTagValue::Storage, .device = device}; }
};

/// Whether a value of kind `from` may stand where `to` is expected.
inline bool isAssignable(const Kind& from, const Kind& to) {
  return from.tag == to.tag && from.dtype == to.dtype && from.rank == to.rank && from.device == to.device &&
         from.index == to.index && (!to.function || from.function == to.function);
}

}  // namespace baton::bytecode

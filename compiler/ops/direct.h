// Calls that need no kernel: what they are lowered to instead. Fusion leaves them alone,
// and the lowering asks the same question, so the two cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "compiler/ir/ir.h"

namespace baton::ops {

enum class DirectForm : uint8_t {
  None,    ///< a kernel
  Scalar,  ///< scalar instructions: operands and result of rank 0, see scalarCode
  View,    ///< the first operand with other extents, as many elements (reshape, expand_dims, squeeze, ...)
  LoadScalar,  ///< one element of a vector: take with a scalar index
  IndexOuter,  ///< one row: take along axis 0 with a scalar index, rank >= 2
  SliceOuter,  ///< rows [start, end) of the first operand, stride 1
  DimValues,   ///< shape arithmetic: the elements of the result are known as dims
  Copy,        ///< the operand itself (copy, and the like)
};

/// The form of a call in a typed function. `binding.rhs` is a CallOp.
DirectForm directForm(const ir::Module& module, const ir::Function& function, const ir::Binding& binding);

/// The scalar instruction for an operator on operands of one type.
struct ScalarCode {
  std::string mnemonic;       ///< of the instruction set: "add.f32"
  bool swapOperands = false;  ///< greater(a, b) is lt b, a
};
/// Nothing for an operator that has no such instruction (transcendentals, say). f16 and
/// bf16 operands are converted to f32 first and the result back: ask for F32.
std::optional<ScalarCode> scalarCode(std::string_view op, DType operandType);

}  // namespace baton::ops

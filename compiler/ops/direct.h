// Calls that need no kernel: what they are lowered to instead. Fusion leaves them alone,
// and the lowering asks the same question, so the two cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"
#include "compiler/ir/ir.h"

namespace baton::ops {

enum class DirectForm : uint8_t {
  None,         ///< a kernel
  Scalar,       ///< scalar instructions: operands and result of rank 0, see scalarRecipe
  View,         ///< the first operand with other extents, as many elements (reshape, squeeze, ...)
  LoadElement,  ///< the only element of the first operand
  TakeElement,  ///< one element of a vector: take with a scalar index
  TakeRow,      ///< one row: take along axis 0 with a scalar index, rank >= 2
  SliceRows,    ///< consecutive rows of the first operand
  DimValues,    ///< shape arithmetic: the elements of the result are known as dims
  Same,         ///< the operand itself (copy, a cast to its own type)
  Unreached,    ///< an extent is too large to be written down: computing it is an error
};

struct DirectCall {
  DirectForm form = DirectForm::None;
  DimExpr firstRow;  ///< SliceRows
};

/// The form of a call in a typed function. `binding.rhs` is a CallOp.
DirectCall directCall(ir::Module& module, const ir::Function& function, const ir::Binding& binding);
inline DirectForm directForm(ir::Module& module, const ir::Function& function, const ir::Binding& binding) {
  return directCall(module, function, binding).form;
}

/// An operand of a step: an input of the call, the result of an earlier step, or a constant.
struct ScalarOperand {
  enum class From : uint8_t { Input, Step, Constant };
  From from = From::Input;
  uint32_t index = 0;
  DType dtype = DType::F32;  ///< Constant
  uint64_t bits = 0;         ///< Constant, in the 64-bit form of base/dtype.h
};

/// One scalar instruction.
struct ScalarStep {
  std::string mnemonic;  ///< of the instruction set: "add.f32", "select", "cast", "bitcast"
  std::vector<ScalarOperand> operands;
  DType type = DType::F32;  ///< of the result
  DType from = DType::F32;  ///< cast, bitcast: of the operand
};

struct ScalarRecipe {
  std::vector<ScalarStep> steps;
  ScalarOperand result;
};

/// An operator on operands of rank 0 as scalar instructions, with the bits that its kernel
/// would give; nothing for one that has none (transcendentals, say).
std::optional<ScalarRecipe> scalarRecipe(const ir::CallOp& call, std::span<const DType> inputs, DType result);

}  // namespace baton::ops

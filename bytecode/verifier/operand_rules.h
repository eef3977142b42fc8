// What the records of the instructions say of the kinds of their operands, ready to compare.
#pragma once

#include <vector>

#include "bytecode/isa/instruction.h"

namespace baton::bytecode {

/// What the record of an instruction says of an operand's kind.
struct OperandRule {
  enum class Want : uint8_t { Any, Scalar, Reference } want = Want::Any;
  DType dtype = DType::Bool;
  KindTagValue tag = KindTagValue::Scalar;
};

/// One per operand. The table is made once and never changes.
const std::vector<OperandRule>& operandRulesOf(const InstructionDesc& desc);

}  // namespace baton::bytecode

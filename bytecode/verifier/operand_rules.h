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

class OperandRules {
 public:
  OperandRules();
  /// One per operand.
  const std::vector<OperandRule>& of(const InstructionDesc& desc) const {
    return rules_[static_cast<size_t>(&desc - allInstructionDescs().data())];
  }

 private:
  std::vector<std::vector<OperandRule>> rules_;
};

}  // namespace baton::bytecode

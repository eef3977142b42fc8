// The form of a function's code, before anything is known of values.
#pragma once

#include <vector>

#include "bytecode/isa/instruction.h"
#include "bytecode/program.h"
#include "bytecode/verifier/reporter.h"

namespace baton::bytecode {

/// A maximal run of instructions that is entered at its first and left at its last.
struct CodeBlock {
  uint32_t begin;  ///< word offsets in the function
  uint32_t end;
  std::vector<uint32_t> successors;  ///< blocks, each once
};

struct FunctionStructure {
  std::vector<CodeBlock> blocks;  ///< in order of the code; 0 is the entry. Empty after a violation.
};

/// Reports violations of form; operands are in range and targets are instructions when there
/// are none.
FunctionStructure checkStructure(const Program& program, FunctionIndex index, Reporter& reporter);

/// Calls f(operand, first unit, element count) for each operand.
template <class F>
void forEachOperand(const InstructionDesc& desc, InstructionView view, F&& f) {
  uint32_t listUnit = desc.fixedUnits;
  for (const OperandDesc& operand : desc.operands) {
    if (!isList(operand.kind)) {
      f(operand, uint32_t{operand.unit}, 1u);
      continue;
    }
    const uint32_t size = elementUnits(operand.kind);
    listUnit = (listUnit + size - 1) & ~(size - 1);
    const uint32_t count = view.unit16(operand.unit);
    f(operand, listUnit, count);
    listUnit += size * count;
  }
}

}  // namespace baton::bytecode

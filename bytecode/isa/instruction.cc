#include "bytecode/isa/instruction.h"

#include <algorithm>

namespace baton::bytecode {

namespace {
#include "bytecode/isa/generated/descs.inc"
}  // namespace

std::span<const InstructionDesc> allInstructionDescs() { return kInstructionDescs; }

const InstructionDesc* findInstructionDesc(uint16_t opcode) {
  const auto* end = std::end(kInstructionDescs);
  const auto* found = std::lower_bound(std::begin(kInstructionDescs), end, opcode,
                                       [](const InstructionDesc& desc, uint16_t number) {
                                         return static_cast<uint16_t>(desc.opcode) < number;
                                       });
  return found != end && static_cast<uint16_t>(found->opcode) == opcode ? found : nullptr;
}

const InstructionDesc* findInstructionDesc(std::string_view mnemonic) {
  const auto* found = std::find_if(std::begin(kInstructionDescs), std::end(kInstructionDescs),
                                   [&](const InstructionDesc& desc) { return desc.mnemonic == mnemonic; });
  return found != std::end(kInstructionDescs) ? found : nullptr;
}

std::optional<uint32_t> instructionWordCount(std::span<const uint64_t> code) {
  if (code.empty()) return std::nullopt;
  const InstructionView view{code.data()};
  const InstructionDesc* desc = findInstructionDesc(view.unit16(0));
  if (!desc || (desc->fixedUnits + 3u) / 4 > code.size()) return std::nullopt;
  uint32_t units = desc->fixedUnits;  // counts are 16 bits, so this cannot overflow
  for (const OperandDesc& operand : desc->operands) {
    if (!isList(operand.kind)) continue;
    const uint32_t size = elementUnits(operand.kind);
    units = (units + size - 1) & ~(size - 1);
    units += size * view.unit16(operand.unit);
  }
  const uint32_t words = (units + 3) / 4;
  if (words > code.size()) return std::nullopt;
  return words;
}

}  // namespace baton::bytecode

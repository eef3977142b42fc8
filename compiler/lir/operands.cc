#include "compiler/lir/operands.h"

#include <array>

#include "base/error.h"

namespace baton::lir {

const bytecode::InstructionDesc& descOf(Opcode opcode) {
  const bytecode::InstructionDesc* desc = bytecode::findInstructionDesc(static_cast<uint16_t>(opcode));
  BATON_CHECK(desc != nullptr);
  return *desc;
}

namespace {

/// Position and count of a list operand's elements.
std::pair<size_t, size_t> listRange(const Function& function, const Instruction& instruction,
                                    size_t operand) {
  const std::span<const bytecode::OperandDesc> operands = descOf(instruction).operands;
  size_t begin = instruction.firstSlot + fixedSlotCount(instruction);
  for (size_t i = 0; i < operand; ++i)
    if (isList(operands[i].kind)) begin += function.slots[instruction.firstSlot + i];
  return {begin, function.slots[instruction.firstSlot + operand]};
}

}  // namespace

std::span<uint64_t> listOperand(Function& function, const Instruction& instruction, size_t operand) {
  const auto [begin, count] = listRange(function, instruction, operand);
  return std::span(function.slots).subspan(begin, count);
}

std::span<const uint64_t> listOperand(const Function& function, const Instruction& instruction,
                                      size_t operand) {
  const auto [begin, count] = listRange(function, instruction, operand);
  return std::span(function.slots).subspan(begin, count);
}

bool isRemovable(const Instruction& instruction) {
  const bytecode::InstructionDesc& desc = descOf(instruction);
  constexpr uint8_t kKeeps = bytecode::kEffectTerminator | bytecode::kEffectCalls | bytecode::kEffectWrites;
  if (desc.effects & kKeeps) return false;
  for (const bytecode::OperandDesc& operand : desc.operands)
    if (bytecode::isDef(operand.kind)) return true;
  return false;
}

Instruction makeInstruction(Function& function, Opcode opcode, std::initializer_list<Operand> operands) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.firstSlot = static_cast<uint32_t>(function.slots.size());
  BATON_CHECK(function.slots.size() < UINT32_MAX - (1u << 20));
  const std::span<const bytecode::OperandDesc> descs = descOf(opcode).operands;
  BATON_CHECK(operands.size() == fixedSlotCount(instruction));
  size_t index = 0;
  for (const Operand& operand : operands) {
    const bool wantsList = index >= descs.size() || isList(descs[index].kind);
    BATON_CHECK(operand.isList_ == wantsList);
    function.slots.push_back(operand.isList_ ? operand.registers_.size() + operand.blocks_.size()
                                             : operand.value_);
    ++index;
  }
  for (const Operand& operand : operands) {
    for (Register reg : operand.registers_) function.slots.push_back(reg.value());
    for (BlockId block : operand.blocks_) function.slots.push_back(block.value());
  }
  return instruction;
}

}  // namespace baton::lir

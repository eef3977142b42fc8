// Access to the operands of an instruction, generically over the descriptors.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "compiler/lir/lir.h"

namespace baton::lir {

const bytecode::InstructionDesc& descOf(Opcode opcode);
inline const bytecode::InstructionDesc& descOf(const Instruction& instruction) {
  return descOf(instruction.opcode);
}

/// Slots in front of the list elements.
inline uint32_t fixedSlotCount(const Instruction& instruction) {
  return static_cast<uint32_t>(descOf(instruction).operands.size()) + (instruction.opcode == Opcode::Jump);
}

/// Calls `f(uint64_t& slot, OperandKind kind, size_t operand)` for every element of every
/// operand but list counts, in declared order; arguments of a jump come as ROwnList or
/// SUseList after its target, with operand 1.
template <class FunctionT, class F>
void forEachSlot(FunctionT& function, const Instruction& instruction, F&& f) {
  const std::span<const bytecode::OperandDesc> operands = descOf(instruction).operands;
  auto* slots = function.slots.data() + instruction.firstSlot;
  auto* element = slots + fixedSlotCount(instruction);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!isList(operands[i].kind)) {
      f(slots[i], operands[i].kind, i);
      continue;
    }
    for (uint64_t n = slots[i]; n > 0; --n) f(*element++, operands[i].kind, i);
  }
  if (instruction.opcode != Opcode::Jump) return;
  for (uint64_t n = slots[1]; n > 0; --n, ++element) {
    const Register reg = RegisterOperand::fromSlot(*element).reg;
    f(*element, function.bankOf(reg) == Bank::Scalar ? OperandKind::SUseList : OperandKind::ROwnList,
      size_t{1});
  }
}

constexpr bool isRegister(OperandKind kind) {
  return bytecode::isScalarOperand(kind) || bytecode::isReferenceOperand(kind);
}
constexpr bool isUse(OperandKind kind) { return isRegister(kind) && !bytecode::isDef(kind); }

/// `f(uint64_t& slot, OperandKind)` for every register that is read, in order.
template <class FunctionT, class F>
void forEachUse(FunctionT& function, const Instruction& instruction, F&& f) {
  forEachSlot(function, instruction, [&](auto& slot, OperandKind kind, size_t) {
    if (isUse(kind)) f(slot, kind);
  });
}
/// `f(uint64_t& slot, OperandKind)` for every register that is written, in order.
template <class FunctionT, class F>
void forEachDef(FunctionT& function, const Instruction& instruction, F&& f) {
  forEachSlot(function, instruction, [&](auto& slot, OperandKind kind, size_t) {
    if (bytecode::isDef(kind)) f(slot, kind);
  });
}

/// The value of an operand that is no list.
inline uint64_t fixedOperand(const Function& function, const Instruction& instruction, size_t operand) {
  return function.slots[instruction.firstSlot + operand];
}
/// The elements of a list operand.
std::span<uint64_t> listOperand(Function& function, const Instruction& instruction, size_t operand);
std::span<const uint64_t> listOperand(const Function& function, const Instruction& instruction,
                                      size_t operand);
inline Register registerOf(uint64_t slot) { return RegisterOperand::fromSlot(slot).reg; }
inline Register registerOperand(const Function& function, const Instruction& instruction, size_t operand) {
  return registerOf(fixedOperand(function, instruction, operand));
}

inline bool isTerminator(const Instruction& instruction) { return descOf(instruction).isTerminator(); }
/// Whether it may be left out when no register that it defines is used.
bool isRemovable(const Instruction& instruction);

/// Blocks that a terminator may go to; one that is named twice comes twice.
template <class F>
void forEachSuccessor(const Function& function, const Instruction& terminator, F&& f) {
  forEachSlot(function, terminator, [&](uint64_t slot, OperandKind kind, size_t) {
    if (kind == OperandKind::Target || kind == OperandKind::TargetList)
      f(BlockId(static_cast<uint32_t>(slot)));
  });
}
inline const Instruction& terminatorOf(const Block& block) { return block.instructions.back(); }

/// An operand of an instruction under construction.
class Operand {
 public:
  Operand(Register reg) : value_(reg.value()) {}                                // NOLINT: implicit
  Operand(BlockId block) : value_(block.value()) {}                             // NOLINT: implicit
  Operand(DType dtype) : value_(static_cast<uint64_t>(dtype)) {}                // NOLINT: implicit
  Operand(std::span<const Register> list) : isList_(true), registers_(list) {}  // NOLINT: implicit
  Operand(const std::vector<Register>& list)                                    // NOLINT: implicit
      : isList_(true), registers_(list) {}
  Operand(std::span<const BlockId> list) : isList_(true), blocks_(list) {}  // NOLINT: implicit
  template <class Tag>
  Operand(StrongIndex<Tag> index) : value_(index.value()) {}  // NOLINT: implicit
  static Operand immediate(uint64_t value) { return Operand(value); }

 private:
  friend Instruction makeInstruction(Function& function, Opcode opcode,
                                     std::initializer_list<Operand> operands);
  explicit Operand(uint64_t value) : value_(value) {}
  bool isList_ = false;
  uint64_t value_ = 0;
  std::span<const Register> registers_;
  std::span<const BlockId> blocks_;
};

/// An instruction with one Operand per operand of its descriptor (and the arguments, for a
/// jump), whose slots are appended to the function. Lists are copied.
Instruction makeInstruction(Function& function, Opcode opcode, std::initializer_list<Operand> operands);

}  // namespace baton::lir

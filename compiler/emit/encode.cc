#include "compiler/emit/encode.h"

#include "base/error.h"
#include "compiler/lir/operands.h"

namespace baton::emit {

namespace {

using bytecode::OperandKind;

class FunctionEncoder {
 public:
  explicit FunctionEncoder(const lir::Function& function) : function_(function) {}

  EncodedFunction run() {
    BATON_CHECK(function_.isAllocated);
    for (size_t b = 0; b < function_.blocks.size(); ++b) labels_.push_back(encoder_.newLabel());
    for (size_t b = 0; b < function_.blocks.size(); ++b) {
      encoder_.bind(labels_[b]);
      for (const lir::Instruction& instruction : function_.blocks[b].instructions) {
        notePosition(instruction);
        encodeInstruction(instruction);
      }
    }
    result_.code = encoder_.finish();
    return std::move(result_);
  }

 private:
  void notePosition(const lir::Instruction& instruction) {
    if (!instruction.location.isKnown()) return;
    if (!result_.positions.empty() && result_.positions.back().location == instruction.location &&
        result_.positions.back().name == instruction.name)
      return;
    result_.positions.push_back({encoder_.offset(), instruction.location, instruction.name});
  }

  template <class Operand>
  Operand registerOperand(uint64_t slot) const {
    const lir::RegisterOperand operand = lir::RegisterOperand::fromSlot(slot);
    // Scalars have no owner, so the mark would say nothing.
    const bool marks = operand.isLastUse && function_.bankOf(operand.reg) == lir::Bank::Reference;
    return Operand::of(function_.assignment[operand.reg.value()], marks);
  }

  void encodeInstruction(const lir::Instruction& instruction) {
    const bytecode::InstructionDesc& desc = lir::descOf(instruction);
    encoder_.begin(instruction.opcode);
    for (size_t i = 0; i < desc.operands.size(); ++i) {
      if (isList(desc.operands[i].kind))
        encoder_.count(lir::listOperand(function_, instruction, i));
      else
        encodeFixed(lir::fixedOperand(function_, instruction, i), desc.operands[i].kind);
    }
    for (size_t i = 0; i < desc.operands.size(); ++i)
      if (isList(desc.operands[i].kind))
        encodeElements(lir::listOperand(function_, instruction, i), desc.operands[i].kind);
    encoder_.end();
  }

  void encodeFixed(uint64_t slot, OperandKind kind) {
    switch (kind) {
      case OperandKind::SUse:
      case OperandKind::SDef: encoder_.fixed(registerOperand<bytecode::ScalarOperand>(slot)); break;
      case OperandKind::RUse:
      case OperandKind::ROwn:
      case OperandKind::RDef: encoder_.fixed(registerOperand<bytecode::ReferenceOperand>(slot)); break;
      case OperandKind::DTypeImm: encoder_.fixed(static_cast<DType>(slot)); break;
      case OperandKind::SmallImm: encoder_.fixed(static_cast<uint16_t>(slot)); break;
      case OperandKind::FunctionRef: encoder_.fixed(lir::FunctionIndex(static_cast<uint32_t>(slot))); break;
      case OperandKind::KernelRef: encoder_.fixed(lir::KernelIndex(static_cast<uint32_t>(slot))); break;
      case OperandKind::ConstantRef: encoder_.fixed(lir::ConstantIndex(static_cast<uint32_t>(slot))); break;
      case OperandKind::TypeRef: encoder_.fixed(lir::TypeIndex(static_cast<uint32_t>(slot))); break;
      case OperandKind::KindRef: encoder_.fixed(lir::KindIndex(static_cast<uint32_t>(slot))); break;
      case OperandKind::MessageRef: encoder_.fixed(lir::MessageIndex(static_cast<uint32_t>(slot))); break;
      case OperandKind::Target: encoder_.fixed(labels_[slot]); break;
      case OperandKind::Imm64: encoder_.fixed(slot); break;
      case OperandKind::SUseList:
      case OperandKind::SDefList:
      case OperandKind::RUseList:
      case OperandKind::ROwnList:
      case OperandKind::RDefList:
      case OperandKind::TargetList: break;
    }
  }

  void encodeElements(std::span<const uint64_t> slots, OperandKind kind) {
    if (kind == OperandKind::TargetList) {
      std::vector<bytecode::Label> targets;
      for (uint64_t slot : slots) targets.push_back(labels_[slot]);
      encoder_.elements(std::span<const bytecode::Label>(targets));
    } else if (bytecode::isScalarOperand(kind)) {
      encodeRegisters<bytecode::ScalarOperand>(slots);
    } else {
      encodeRegisters<bytecode::ReferenceOperand>(slots);
    }
  }

  template <class Operand>
  void encodeRegisters(std::span<const uint64_t> slots) {
    std::vector<Operand> operands;
    for (uint64_t slot : slots) operands.push_back(registerOperand<Operand>(slot));
    encoder_.elements(std::span<const Operand>(operands));
  }

  const lir::Function& function_;
  bytecode::Encoder encoder_;
  std::vector<bytecode::Label> labels_;
  EncodedFunction result_;
};

}  // namespace

EncodedFunction encode(const lir::Function& function) { return FunctionEncoder(function).run(); }

}  // namespace baton::emit

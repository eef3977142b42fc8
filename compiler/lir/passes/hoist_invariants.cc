#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

/// Cheap, without effects, unable to fail, and not to do with memory that may change.
bool isHoistable(const Instruction& instruction) {
  if (instruction.opcode == Opcode::LoadConst || instruction.opcode == Opcode::Dim) return true;
  const bytecode::InstructionDesc& desc = descOf(instruction);
  if (desc.effects != 0) return false;
  for (const bytecode::OperandDesc& operand : desc.operands)
    if (bytecode::isReferenceOperand(operand.kind)) return false;
  return isRemovable(instruction);
}

class Hoister {
 public:
  explicit Hoister(Function& function)
      : function_(function), flow_(function), definedIn_(function.registers.size(), kNoBlock) {}

  void run() {
    for (BlockId id : flow_.order()) {
      for (Register param : function_.block(id).params) definedIn_[param.value()] = id;
      std::vector<Instruction> kept;
      bool changed = false;
      for (const Instruction& instruction : function_.block(id).instructions) {
        const BlockId target = isHoistable(instruction) ? targetOf(id, instruction) : id;
        forEachDef(function_, instruction,
                   [&](uint64_t slot, OperandKind) { definedIn_[registerOf(slot).value()] = target; });
        if (target == id) {
          kept.push_back(instruction);
          continue;
        }
        changed = true;
        std::vector<Instruction>& to = function_.block(target).instructions;
        to.insert(to.end() - 1, instruction);
      }
      if (changed) function_.block(id).instructions = std::move(kept);
    }
  }

 private:
  bool isInLoop(BlockId block, BlockId header) const {
    for (BlockId loop = flow_.loopHeader(block); loop != kNoBlock; loop = flow_.outerLoop(loop))
      if (loop == header) return true;
    return false;
  }

  /// The dominator of the header of the outermost loop that it does not depend on, or `id`.
  BlockId targetOf(BlockId id, const Instruction& instruction) const {
    BlockId target = id;
    for (BlockId loop = flow_.loopHeader(id); loop != kNoBlock; loop = flow_.outerLoop(loop)) {
      bool dependsOnLoop = false;
      forEachUse(function_, instruction, [&](uint64_t slot, OperandKind) {
        dependsOnLoop |= isInLoop(definedIn_[registerOf(slot).value()], loop);
      });
      if (dependsOnLoop) break;
      target = flow_.dominator(loop);
    }
    return target;
  }

  Function& function_;
  ControlFlow flow_;
  std::vector<BlockId> definedIn_;
};

}  // namespace

void hoistInvariants(Function& function) { Hoister(function).run(); }

}  // namespace baton::lir

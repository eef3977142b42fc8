// Dominator-scoped value numbering. Only instructions that give the same whenever they are
// given the same take part: not allocations (each is a fresh object), not reads of cells. A
// check of a condition that was checked already goes, too.
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

bool isPure(const Instruction& instruction) {
  const bytecode::InstructionDesc& desc = descOf(instruction);
  constexpr uint8_t kImpure = bytecode::kEffectTerminator | bytecode::kEffectCalls | bytecode::kEffectWrites |
                              bytecode::kEffectAllocates;
  if (desc.effects & kImpure) return false;
  if (instruction.opcode == Opcode::CellReadRef || instruction.opcode == Opcode::CellReadScalar) return false;
  return isRemovable(instruction);
}

class ValueNumbering {
 public:
  explicit ValueNumbering(Function& function)
      : function_(function), flow_(function), canonical_(function.registers.size(), kNoRegister) {}

  void run() {
    // The order visits dominators first; entries of blocks that do not dominate are skipped.
    for (BlockId id : flow_.order()) {
      Block& block = function_.block(id);
      std::erase_if(block.instructions, [&](const Instruction& instruction) {
        forEachUse(function_, instruction, [&](uint64_t& slot, OperandKind) {
          const Register to = canonical_[registerOf(slot).value()];
          if (to != kNoRegister) slot = to.value();
        });
        return instruction.opcode == Opcode::Check ? isChecked(id, instruction)
                                                   : isPure(instruction) && isKnown(id, instruction);
      });
    }
    // Arguments that come round a loop were rewritten before what they name was found redundant.
    for (BlockId id : flow_.order())
      forEachUse(function_, terminatorOf(function_.block(id)), [&](uint64_t& slot, OperandKind) {
        const Register to = canonical_[registerOf(slot).value()];
        if (to != kNoRegister) slot = to.value();
      });
  }

 private:
  struct Known {
    BlockId block;
    Register result;
  };

  bool isKnown(BlockId id, const Instruction& instruction) {
    Register result = kNoRegister;
    std::string key(reinterpret_cast<const char*>(&instruction.opcode), sizeof(instruction.opcode));
    forEachSlot(function_, instruction, [&](uint64_t slot, OperandKind kind, size_t) {
      if (bytecode::isDef(kind))
        result = registerOf(slot);
      else
        key.append(reinterpret_cast<const char*>(&slot), sizeof(slot));
    });
    std::vector<Known>& known = table_[std::move(key)];
    for (const Known& entry : known) {
      if (!flow_.dominates(entry.block, id) || function_.kindOf(entry.result) != function_.kindOf(result))
        continue;
      canonical_[result.value()] = entry.result;
      return true;
    }
    // Results of arms that are done with serve nobody, but linger: the oldest goes.
    if (known.size() >= kMaxEntries) known.erase(known.begin());
    known.push_back({id, result});
    return false;
  }

  /// Whatever it says, a condition that was checked on the way here holds.
  bool isChecked(BlockId id, const Instruction& check) {
    std::vector<BlockId>& blocks = checked_[registerOperand(function_, check, 0).value()];
    for (BlockId block : blocks)
      if (flow_.dominates(block, id)) return true;
    blocks.push_back(id);
    return false;
  }

  static constexpr size_t kMaxEntries = 16;
  Function& function_;
  ControlFlow flow_;
  std::vector<Register> canonical_;
  std::unordered_map<std::string, std::vector<Known>> table_;
  std::unordered_map<uint32_t, std::vector<BlockId>> checked_;  // by condition
};

}  // namespace

void removeRedundancy(Function& function) { ValueNumbering(function).run(); }

}  // namespace baton::lir

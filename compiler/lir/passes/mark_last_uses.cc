#include <unordered_map>
#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/liveness.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

class LastUses {
 public:
  explicit LastUses(Function& function)
      : function_(function),
        flow_(function),
        liveness_(function, flow_),
        live_(function.registers.size()),
        edge_(function.registers.size()) {}

  void run() {
    // Drops are inserted only afterwards: liveness at block boundaries is of the code as it came.
    std::vector<std::vector<Instruction>> rewritten(function_.blocks.size());
    for (BlockId id : flow_.order()) rewritten[id.value()] = markBlock(id);
    for (BlockId id : flow_.order()) function_.block(id).instructions = std::move(rewritten[id.value()]);
  }

 private:
  Instruction drop(Register reg, const Instruction& after) {
    Instruction instruction = makeInstruction(function_, Opcode::Drop, {reg});
    function_.slots[instruction.firstSlot] |= RegisterOperand::kLastUse;
    instruction.location = after.location;
    instruction.name = after.name;
    return instruction;
  }
  bool isReference(Register reg) const { return function_.bankOf(reg) == Bank::Reference; }

  std::vector<Instruction> markBlock(BlockId id) {
    const Block& block = function_.block(id);
    live_.clear();
    for (BlockId successor : flow_.successors(id))
      for (Register reg : liveness_.liveIn(successor)) live_.insert(reg);

    std::vector<Instruction> reversed;
    reversed.reserve(block.instructions.size());
    for (size_t i = block.instructions.size(); i-- > 0;) {
      const Instruction& instruction = block.instructions[i];
      unused_.clear();
      forEachDef(function_, instruction, [&](uint64_t slot, OperandKind) {
        const Register reg = registerOf(slot);
        if (!live_.contains(reg) && isReference(reg)) unused_.push_back(reg);
        live_.erase(reg);
      });
      for (size_t u = unused_.size(); u-- > 0;) reversed.push_back(drop(unused_[u], instruction));
      reversed.push_back(instruction);
      markUses(instruction);
    }

    // What arrives here and is not used ends here.
    const Instruction& first = block.instructions.front();
    for (size_t p = block.params.size(); p-- > 0;)
      if (!live_.contains(block.params[p]) && isReference(block.params[p]))
        reversed.push_back(drop(block.params[p], first));
    dropDeadOnEdge(id, first, reversed);
    std::vector<Instruction> instructions(reversed.rbegin(), reversed.rend());
    return instructions;
  }

  void markUses(const Instruction& instruction) {
    slots_.clear();
    forEachUse(function_, instruction, [&](uint64_t& slot, OperandKind) { slots_.push_back(&slot); });
    // Operands are read in order, so of several reads of one register the last one ends it.
    for (size_t u = slots_.size(); u-- > 0;) {
      const Register reg = registerOf(*slots_[u]);
      *slots_[u] = RegisterOperand{reg, live_.insert(reg)}.slot();
    }
  }

  /// Values that a predecessor with several successors keeps for another one of them. (Such a
  /// predecessor is the only one.)
  void dropDeadOnEdge(BlockId id, const Instruction& first, std::vector<Instruction>& reversed) {
    const std::span<const BlockId> predecessors = flow_.predecessors(id);
    if (predecessors.size() != 1 || flow_.successors(predecessors[0]).size() < 2) return;
    for (Register reg : liveness_.liveIn(id)) live_.insert(reg);
    for (Register reg : referencesOut(predecessors[0]))
      if (live_.insert(reg)) reversed.push_back(drop(reg, first));
  }

  const std::vector<Register>& referencesOut(BlockId id) {
    const auto [found, isNew] = referencesOut_.try_emplace(id.value());
    if (isNew) {
      edge_.clear();
      for (BlockId successor : flow_.successors(id))
        for (Register reg : liveness_.liveIn(successor))
          if (isReference(reg) && edge_.insert(reg)) found->second.push_back(reg);
    }
    return found->second;
  }

  Function& function_;
  ControlFlow flow_;
  Liveness liveness_;
  RegisterSet live_;
  RegisterSet edge_;
  std::unordered_map<uint32_t, std::vector<Register>> referencesOut_;  // by block, looked up only
  std::vector<Register> unused_;
  std::vector<uint64_t*> slots_;
};

}  // namespace

void markLastUses(Function& function) { LastUses(function).run(); }

}  // namespace baton::lir

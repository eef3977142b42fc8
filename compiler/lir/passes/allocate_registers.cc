// Register allocation on SSA form. Blocks are visited with dominators first, so whatever is
// live at a definition already has its register, and any free one will do for the whole life
// of the value: the count equals the highest pressure. The freedom goes into coalescing:
// a value that is passed to a block parameter tries for the parameter's register, or for the
// one that its other arguments have.
#include <bit>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "compiler/lir/cfg.h"
#include "compiler/lir/liveness.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/parallel_moves.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

constexpr uint16_t kUnassigned = UINT16_MAX;

/// Occupied registers of a bank.
class Occupancy {
 public:
  void clear() { words_.assign(words_.size(), 0); }
  bool isFree(uint32_t index) const {
    return index / 64 >= words_.size() || (words_[index / 64] >> (index % 64) & 1) == 0;
  }
  void take(uint32_t index) {
    if (index / 64 >= words_.size()) words_.resize(index / 64 + 1);
    words_[index / 64] |= uint64_t{1} << (index % 64);
    highWater_ = std::max(highWater_, index + 1);
  }
  void release(uint32_t index) { words_[index / 64] &= ~(uint64_t{1} << (index % 64)); }
  uint32_t lowestFree() const {
    for (uint32_t w = 0; w < words_.size(); ++w)
      if (words_[w] != UINT64_MAX) return 64 * w + static_cast<uint32_t>(std::countr_one(words_[w]));
    return 64 * static_cast<uint32_t>(words_.size());
  }
  uint32_t highWater() const { return highWater_; }

 private:
  std::vector<uint64_t> words_;
  uint32_t highWater_ = 0;
};

class RegisterAllocator {
 public:
  explicit RegisterAllocator(Function& function)
      : function_(function),
        flow_(function),
        liveness_(function, flow_),
        passedTo_(function.registers.size(), kNoRegister),
        preferred_(function.registers.size(), kUnassigned),
        isUsed_(function.registers.size()) {
    function_.assignment.assign(function_.registers.size(), kUnassigned);
  }

  Result<void> run() {
    collectHints();
    for (BlockId id : flow_.order()) BATON_TRY(allocateBlock(id));
    for (BlockId id : flow_.order()) resolveArguments(function_.block(id));
    for (size_t b = 1; b < function_.blocks.size(); ++b) function_.blocks[b].params.clear();
    for (int bank = 0; bank < kBankCount; ++bank) {
      function_.registerCount[bank] = occupied_[bank].highWater() + (spare_[bank] != kNoRegister ? 1 : 0);
      if (function_.registerCount[bank] > bytecode::kMaxRegisters) return tooMany();
    }
    function_.isAllocated = true;
    return success();
  }

 private:
  Occupancy& occupiedOf(Register reg) { return occupied_[static_cast<int>(function_.bankOf(reg))]; }
  uint16_t& assigned(Register reg) { return function_.assignment[reg.value()]; }

  Error tooMany() const {
    return Error(
        ErrorCode::Unsupported,
        fmt::format("@{} needs more than {} registers of one kind at once; spilling is not available",
                    function_.name, bytecode::kMaxRegisters));
  }

  void collectHints() {
    for (BlockId id : flow_.order()) {
      for (const Instruction& instruction : function_.block(id).instructions)
        forEachUse(function_, instruction,
                   [&](uint64_t slot, OperandKind) { isUsed_[registerOf(slot).value()] = true; });
      const Instruction& terminator = terminatorOf(function_.block(id));
      if (terminator.opcode != Opcode::Jump) continue;
      const std::vector<Register>& params = function_.block(flow_.successors(id)[0]).params;
      const std::span<const uint64_t> arguments = listOperand(function_, terminator, 1);
      for (size_t i = 0; i < arguments.size(); ++i) passedTo_[registerOf(arguments[i]).value()] = params[i];
    }
  }

  void occupy(Register reg, uint32_t index) {
    occupiedOf(reg).take(index);
    assigned(reg) = static_cast<uint16_t>(index);
    const Register param = passedTo_[reg.value()];
    if (param != kNoRegister && preferred_[param.value()] == kUnassigned)
      preferred_[param.value()] = static_cast<uint16_t>(index);
  }

  Result<void> choose(Register reg) {
    const Occupancy& occupied = occupiedOf(reg);
    uint32_t index = kUnassigned;
    const auto tryFor = [&](uint16_t wanted) {
      if (index == kUnassigned && wanted != kUnassigned && occupied.isFree(wanted)) index = wanted;
    };
    if (const Register param = passedTo_[reg.value()]; param != kNoRegister) {
      tryFor(assigned(param));
      tryFor(preferred_[param.value()]);
    }
    tryFor(preferred_[reg.value()]);
    if (index == kUnassigned) index = occupied.lowestFree();
    if (index >= bytecode::kMaxRegisters) return tooMany();
    occupy(reg, index);
    return success();
  }

  Result<void> allocateBlock(BlockId id) {
    for (Occupancy& occupied : occupied_) occupied.clear();
    for (Register reg : liveness_.liveIn(id)) occupiedOf(reg).take(assigned(reg));
    const Block& block = function_.block(id);
    if (id == kEntryBlock) {
      uint32_t next[kBankCount] = {0, 0};
      for (Register param : block.params) {
        uint32_t& index = next[static_cast<int>(function_.bankOf(param))];
        if (index >= bytecode::kMaxRegisters) return tooMany();
        occupy(param, index++);
      }
    } else {
      for (Register param : block.params) BATON_TRY(choose(param));
    }
    for (Register param : block.params) releaseUnused(param);

    std::vector<Register> defs;
    for (const Instruction& instruction : block.instructions) {
      forEachUse(function_, instruction, [&](uint64_t slot, OperandKind) {
        const RegisterOperand operand = RegisterOperand::fromSlot(slot);
        if (operand.isLastUse) occupiedOf(operand.reg).release(assigned(operand.reg));
      });
      defs.clear();
      forEachDef(function_, instruction,
                 [&](uint64_t slot, OperandKind) { defs.push_back(registerOf(slot)); });
      for (Register reg : defs) BATON_TRY(choose(reg));
      for (Register reg : defs) releaseUnused(reg);
    }
    return success();
  }

  /// Only scalars: an unused reference has a drop.
  void releaseUnused(Register reg) {
    if (!isUsed_[reg.value()]) occupiedOf(reg).release(assigned(reg));
  }

  Register spare(Bank bank, Register like) {
    Register& reg = spare_[static_cast<int>(bank)];
    if (reg == kNoRegister) {
      reg = function_.addRegister(function_.kindOf(like));
      function_.assignment.push_back(static_cast<uint16_t>(occupied_[static_cast<int>(bank)].highWater()));
    }
    return reg;
  }

  void resolveArguments(Block& block) {
    const Instruction terminator = block.instructions.back();
    if (terminator.opcode != Opcode::Jump) return;
    const std::vector<Register> params =
        function_.blocks[fixedOperand(function_, terminator, 0)].params;  // a copy: slots may grow below
    std::vector<RegisterOperand> arguments;
    for (uint64_t slot : listOperand(function_, terminator, 1))
      arguments.push_back(RegisterOperand::fromSlot(slot));
    block.instructions.pop_back();
    for (int bank = 0; bank < kBankCount; ++bank)
      resolveBank(static_cast<Bank>(bank), block, terminator, params, arguments);
    function_.slots[terminator.firstSlot + 1] = 0;
    block.instructions.push_back(terminator);
  }

  void resolveBank(Bank bank, Block& block, const Instruction& terminator,
                   const std::vector<Register>& params, const std::vector<RegisterOperand>& arguments) {
    std::vector<RegisterMove> moves;
    std::unordered_map<uint16_t, Register> at;  // a virtual register that lives there; looked up only
    Register first = kNoRegister;
    for (size_t i = 0; i < params.size(); ++i) {
      if (function_.bankOf(params[i]) != bank) continue;
      if (first == kNoRegister) first = params[i];
      moves.push_back({assigned(params[i]), assigned(arguments[i].reg), arguments[i].isLastUse});
      at[assigned(params[i])] = params[i];
      at[assigned(arguments[i].reg)] = arguments[i].reg;
    }
    const auto highWater = static_cast<uint16_t>(occupied_[static_cast<int>(bank)].highWater());
    for (const RegisterMove& move : orderMoves(moves, highWater)) {
      if (move.to == highWater || move.from == highWater) at[highWater] = spare(bank, first);
      const bool isScalar = bank == Bank::Scalar;
      Instruction instruction = makeInstruction(function_, isScalar ? Opcode::MoveScalar : Opcode::Move,
                                                {at.at(move.to), at.at(move.from)});
      if (move.fromDies) function_.slots[instruction.firstSlot + 1] |= RegisterOperand::kLastUse;
      instruction.location = terminator.location;
      block.instructions.push_back(instruction);
    }
  }

  Function& function_;
  ControlFlow flow_;
  Liveness liveness_;
  std::vector<Register> passedTo_;   // a block parameter that it is an argument for
  std::vector<uint16_t> preferred_;  // by register: what an argument for it got
  std::vector<bool> isUsed_;
  Occupancy occupied_[kBankCount];
  Register spare_[kBankCount] = {kNoRegister, kNoRegister};
};

}  // namespace

Result<void> allocateRegisters(Function& function) { return RegisterAllocator(function).run(); }

}  // namespace baton::lir

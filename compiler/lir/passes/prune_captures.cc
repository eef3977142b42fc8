#include <vector>

#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

constexpr uint32_t kGone = UINT32_MAX;

/// New number of each captured slot, by bank.
struct Slots {
  std::vector<uint32_t> numbers[kBankCount];
  bool hasChanged = false;
};

Slots usedSlots(const Function& function) {
  Slots slots;
  for (const Kind& kind : function.captures)
    slots.numbers[static_cast<int>(kind.isScalar() ? Bank::Scalar : Bank::Reference)].push_back(kGone);
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions) {
      if (instruction.opcode == Opcode::CaptureRef)
        slots.numbers[static_cast<int>(Bank::Reference)][fixedOperand(function, instruction, 2)] = 0;
      if (instruction.opcode == Opcode::CaptureScalar)
        slots.numbers[static_cast<int>(Bank::Scalar)][fixedOperand(function, instruction, 2)] = 0;
    }
  for (std::vector<uint32_t>& numbers : slots.numbers) {
    uint32_t next = 0;
    for (uint32_t& number : numbers) {
      if (number == kGone)
        slots.hasChanged = true;
      else
        number = next++;
    }
  }
  return slots;
}

void renumber(Function& function, const Slots& slots) {
  uint32_t next[kBankCount] = {0, 0};
  std::erase_if(function.captures, [&](const Kind& kind) {
    const int bank = static_cast<int>(kind.isScalar() ? Bank::Scalar : Bank::Reference);
    return slots.numbers[bank][next[bank]++] == kGone;
  });
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions) {
      const bool isScalar = instruction.opcode == Opcode::CaptureScalar;
      if (!isScalar && instruction.opcode != Opcode::CaptureRef) continue;
      uint64_t& slot = function.slots[instruction.firstSlot + 2];
      slot = slots.numbers[static_cast<int>(isScalar ? Bank::Scalar : Bank::Reference)][slot];
    }
}

std::vector<Register> keptOf(std::span<const uint64_t> captured, const std::vector<uint32_t>& numbers) {
  std::vector<Register> kept;
  for (size_t i = 0; i < captured.size(); ++i)
    if (numbers[i] != kGone) kept.push_back(registerOf(captured[i]));
  return kept;
}

}  // namespace

// A value that is captured only to be captured again further in takes one run per level; the
// lowering's guesses at extents are one level deep.
Result<void> pruneCaptures(Module& module) {
  std::vector<Slots> slots;
  slots.reserve(module.functions.size());
  for (Function& function : module.functions) {
    slots.push_back(usedSlots(function));
    if (slots.back().hasChanged) renumber(function, slots.back());
  }
  for (Function& function : module.functions)
    for (Block& block : function.blocks)
      for (Instruction& instruction : block.instructions) {
        if (instruction.opcode != Opcode::MakeClosure) continue;
        const FunctionIndex callee(static_cast<uint32_t>(fixedOperand(function, instruction, 1)));
        const Slots& captured = slots[callee.value()];
        if (!captured.hasChanged) continue;
        Instruction replaced = makeInstruction(function, Opcode::MakeClosure,
                                               {registerOperand(function, instruction, 0), callee,
                                                keptOf(listOperand(function, instruction, 2),
                                                       captured.numbers[static_cast<int>(Bank::Reference)]),
                                                keptOf(listOperand(function, instruction, 3),
                                                       captured.numbers[static_cast<int>(Bank::Scalar)])});
        replaced.location = instruction.location;
        replaced.name = instruction.name;
        instruction = replaced;
      }
  return success();
}

}  // namespace baton::lir

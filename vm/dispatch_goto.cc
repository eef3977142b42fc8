#include <array>
#include <utility>

#include "vm/exec/step.h"

namespace baton::vm {

namespace {
/// A jump table over all numbers of opcodes; what is no instruction stays null, and the
/// verifier sees to it that it is never met.
struct JumpTable {
  static constexpr size_t kSize = 1024;
  std::array<const void*, kSize> targets{};
  template <size_t N>
  explicit JumpTable(const std::pair<bytecode::Opcode, const void*> (&entries)[N]) {
    for (const auto& [opcode, target] : entries) targets[static_cast<size_t>(opcode)] = target;
  }
};
}  // namespace

Stop runGoto(Machine& machine) {
#define BATON_INSTRUCTION(name, number) static_assert(number < JumpTable::kSize);
#include "bytecode/isa/generated/opcodes.inc"
#undef BATON_INSTRUCTION
  static const std::pair<bytecode::Opcode, const void*> entries[] = {
#define BATON_INSTRUCTION(name, number) {bytecode::Opcode::name, &&label##name},
#include "bytecode/isa/generated/opcodes.inc"
#undef BATON_INSTRUCTION
  };
  static const JumpTable table(entries);

  Frame f{machine.scalars, machine.references, &machine, machine.fuel};
  const uint64_t* pc = machine.pc;
  const void* const* const targets = table.targets.data();

#define BATON_DISPATCH() \
  --f.fuel;              \
  goto* targets[static_cast<uint16_t>(*pc)]

  BATON_DISPATCH();
#define BATON_INSTRUCTION(name, number)                           \
  label##name : if (!step<bytecode::name>(pc, f)) { goto leave; } \
  BATON_DISPATCH();
#include "bytecode/isa/generated/opcodes.inc"
#undef BATON_INSTRUCTION

leave:
  return leaveLoop(machine, f, pc);
}

}  // namespace baton::vm

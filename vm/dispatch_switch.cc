#include "vm/exec/step.h"

namespace baton::vm {

namespace {

template <bool kPrecise>
BATON_EXEC Stop runLoop(Machine& machine, InstructionObserver* observer) {
  Frame f{machine.scalars, machine.references, &machine, machine.fuel};
  const uint64_t* pc = machine.pc;
  for (;;) {
    --f.fuel;
    if constexpr (kPrecise) {
      if (mustStop(f)) break;
      if (observer) observer->onInstruction(currentFunction(f), pc);
    }
    switch (static_cast<bytecode::Opcode>(static_cast<uint16_t>(*pc))) {
#define BATON_INSTRUCTION(name, number)           \
  case bytecode::Opcode::name:                    \
    if (!step<bytecode::name>(pc, f)) goto leave; \
    continue;
#include "bytecode/isa/generated/opcodes.inc"
#undef BATON_INSTRUCTION
    }
    __builtin_unreachable();  // verified code has instructions only
  }
leave:
  return leaveLoop(machine, f, pc);
}

}  // namespace

Stop runSwitch(Machine& machine) { return runLoop<false>(machine, nullptr); }
Stop runPrecisely(Machine& machine, InstructionObserver* observer) {
  return runLoop<true>(machine, observer);
}

}  // namespace baton::vm

// The dispatch loops: one set of instruction bodies (vm/exec), two ways to reach them. They
// execute a machine from its saved registers until it finishes, fails or has to stop, and
// save the registers again.
#pragma once

#include "vm/machine.h"

namespace baton::vm {

/// Computed goto: each instruction jumps to the next.
Stop runGoto(Machine& machine);
/// A switch in a loop; portable, and the twin that the other is tested against.
Stop runSwitch(Machine& machine);

/// Told before every instruction; for stepping, tracing and profiling.
class InstructionObserver {
 public:
  virtual void onInstruction(const FunctionCode& function, const uint64_t* pc) = 0;

 protected:
  ~InstructionObserver() = default;
};
/// As runSwitch, but stops exactly when the fuel is used up; `observer` may be null.
Stop runPrecisely(Machine& machine, InstructionObserver* observer);

}  // namespace baton::vm

// All bodies of instructions, and the one way in which a dispatch loop runs them.
#pragma once

#include <type_traits>

#include "vm/dispatch.h"
#include "vm/exec/array.h"
#include "vm/exec/control.h"
#include "vm/exec/data.h"
#include "vm/exec/scalar.h"
#include "vm/exec/tensor.h"

namespace baton::vm {

/// Executes the instruction at `pc` and moves on; false when the loop has to end, and then
/// `pc` stays at the instruction.
template <class View>
BATON_EXEC bool step(const uint64_t*& pc, Frame& f) {
  const View view{pc};
  using Flow = decltype(exec(view, f));
  if constexpr (std::is_void_v<Flow>) {
    exec(view, f);
    pc += view.wordCount();
    return true;
  } else if constexpr (std::is_same_v<Flow, bool>) {
    if (!exec(view, f)) [[unlikely]]
      return false;
    pc += view.wordCount();
    return true;
  } else {
    static_assert(std::is_same_v<Flow, Next>);
    const Next next = exec(view, f);
    if (!next) [[unlikely]]
      return false;
    pc = next;
    return true;
  }
}

BATON_EXEC Stop leaveLoop(Machine& machine, const Frame& f, const uint64_t* pc) {
  machine.pc = pc;
  machine.scalars = f.s;
  machine.references = f.r;
  machine.fuel = f.fuel;
  if (machine.error || machine.lacksMemory) return Stop::Failed;
  if (machine.hasFinished) return Stop::Finished;
  ++machine.fuel;  // of the instruction that was not executed
  return Stop::Poll;
}

}  // namespace baton::vm

// The registers of the machine as one dispatch loop holds them. A Frame lives in the
// processor's registers: bodies of instructions are inlined into the loop and nothing may
// take its address. What is too long for that goes out of line and gets the parts it needs.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "bytecode/isa/instruction.h"
#include "vm/machine.h"

#define BATON_EXEC [[gnu::always_inline]] inline

namespace baton::vm {

struct Frame {
  uint64_t* s;  ///< scalars of the current window
  Object** r;   ///< references
  Machine* m;
  int64_t fuel;
};

/// Where execution goes after an instruction; null: the loop ends, Machine says why.
using Next = const uint64_t*;

using bytecode::ReferenceOperand;
using bytecode::ScalarOperand;

template <class T>
BATON_EXEC T get(const Frame& f, ScalarOperand operand) {
  return scalarFromBits<T>(f.s[operand.index()]);
}
template <class T>
BATON_EXEC void set(Frame& f, ScalarOperand operand, T value) {
  f.s[operand.index()] = scalarBits<T>(value);
}

/// The reference of an owned operand: moved out by a last use, else one more.
BATON_EXEC Object* take(Object** r, ReferenceOperand operand) {
  Object*& slot = r[operand.index()];
  Object* object = slot;
  BATON_DCHECK(object != nullptr);
  if (operand.isLastUse())
    slot = nullptr;
  else
    retain(object);
  return object;
}

/// A borrowed operand. After a last use the register is empty and finish() ends the value.
BATON_EXEC Object* borrow(Object** r, ReferenceOperand operand) {
  Object*& slot = r[operand.index()];
  Object* object = slot;
  BATON_DCHECK(object != nullptr);
  if (operand.isLastUse()) slot = nullptr;
  return object;
}
BATON_EXEC void finish(Machine& m, ReferenceOperand operand, Object* object) {
  if (operand.isLastUse()) m.heap->release(object);
}

/// The same for an operand that was looked at in its register, which a body does that may still fail.
BATON_EXEC void letGo(Machine& m, Object** r, ReferenceOperand operand, Object* object) {
  if (!operand.isLastUse()) return;
  r[operand.index()] = nullptr;
  m.heap->release(object);
}

/// Gives a register a value that it owns from now on. It is empty: the verifier proves that
/// no reference is overwritten, and that none is left when a function returns.
BATON_EXEC void define(Object** r, ReferenceOperand operand, Object* object) {
  BATON_DCHECK(r[operand.index()] == nullptr);
  r[operand.index()] = object;
}

/// Whether the machine has to stop before this instruction.
BATON_EXEC bool mustStop(const Frame& f) {
  return f.fuel < 0 || f.m->interrupt.load(std::memory_order_relaxed) != 0;
}

}  // namespace baton::vm

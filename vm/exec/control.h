// Bodies of the control instructions: jumps, calls, returns, failures.
#pragma once

#include "vm/exec/frame.h"
#include "vm/exec/out_of_line.h"

namespace baton::vm {

BATON_EXEC const FunctionCode& currentFunction(const Frame& f) { return *FrameRecord::of(f.s).function; }

/// Backward jumps are where a program that does not end can be stopped.
BATON_EXEC Next jumpTo(const Frame& f, bytecode::InstructionView v, bytecode::CodeOffset offset) {
  const uint64_t* target = currentFunction(f).code + offset.value();
  if (target <= v.words && mustStop(f)) [[unlikely]]
    return nullptr;
  return target;
}

BATON_EXEC Next exec(bytecode::Jump v, Frame& f) { return jumpTo(f, v, v.target()); }
BATON_EXEC Next exec(bytecode::Branch v, Frame& f) {
  // Two loads and a conditional move would make the next instruction wait for the condition.
  if (f.s[v.condition().index()]) return jumpTo(f, v, v.then());
  return jumpTo(f, v, v.otherwise());
}
BATON_EXEC Next exec(bytecode::SwitchTag v, Frame& f) {
  Object* value = f.r[v.value().index()];
  const Next next = jumpTo(f, v, v.targets()[value->tag]);
  if (v.value().isLastUse() && next) {
    f.r[v.value().index()] = nullptr;
    f.m->heap->release(value);
  }
  return next;
}
BATON_EXEC Next exec(bytecode::Switch v, Frame& f) {
  const uint32_t last = v.targets().size() - 1;
  const uint64_t index = f.s[v.index().index()];
  return jumpTo(f, v, v.targets()[index < last ? static_cast<uint32_t>(index) : last]);
}

BATON_EXEC Next exec(bytecode::Fail v, Frame& f) {
  failMessage(*f.m, v.message().value(), v.values(), f.s);
  return nullptr;
}
BATON_EXEC bool exec(bytecode::Check v, Frame& f) {
  if (f.s[v.condition().index()]) [[likely]]
    return true;
  return failMessage(*f.m, v.message().value(), v.values(), f.s);
}

/// Opens a window for `callee` above the current one, moves the arguments into it and makes
/// it current. `closure`, when there is one, becomes r0. `results` are the operands that take
/// the results when the callee returns.
template <class View>
BATON_EXEC Next enter(Frame& f, const View& v, const FunctionCode& callee, Object* closure,
                      const uint16_t* results) {
  Machine& m = *f.m;
  const FunctionCode& caller = currentFunction(f);
  uint64_t* s = f.s + caller.scalarCount + FrameRecord::kWords;
  Object** r = f.r + caller.referenceCount;
  uintptr_t flags = 0;
  if (s + callee.scalarNeed > m.scalarEnd || r + callee.referenceNeed > m.referenceEnd) [[unlikely]] {
    if (!enterSegment(m, callee, s, r)) {
      if (closure) m.heap->release(closure);
      return nullptr;
    }
    s = m.newWindow.s;
    r = m.newWindow.r;
    flags = m.newWindow.flags;
  }
  ++m.depth;
  const auto scalars = v.scalars();
  for (uint32_t i = 0; i < scalars.size(); ++i) s[i] = f.s[scalars[i].index()];
  const auto references = v.references();
  Object** to = r;
  if (closure) *to++ = closure;
  for (uint32_t i = 0; i < references.size(); ++i) to[i] = take(f.r, references[i]);
  FrameRecord& record = FrameRecord::of(s);
  record.callerScalars = reinterpret_cast<uint64_t*>(reinterpret_cast<uintptr_t>(f.s) | flags);
  record.callerReferences = f.r;
  record.results = results;
  record.function = &callee;
  f.s = s;
  f.r = r;
  return callee.code;
}

/// Both kinds of results: the lists stand one after the other.
template <class View>
BATON_EXEC const uint16_t* resultsOf(const View& v) {
  return reinterpret_cast<const uint16_t*>(v.scalarResults().data());
}

BATON_EXEC Next exec(bytecode::Call v, Frame& f) {
  if (mustStop(f) || f.m->depth >= f.m->depthLimit) [[unlikely]]
    return stopAtCall(*f.m, f.fuel);
  return enter(f, v, f.m->functions[v.function().value()], nullptr, resultsOf(v));
}
BATON_EXEC Next exec(bytecode::CallClosure v, Frame& f) {
  if (mustStop(f) || f.m->depth >= f.m->depthLimit) [[unlikely]]
    return stopAtCall(*f.m, f.fuel);
  Object* closure = take(f.r, v.closure());
  return enter(f, v, f.m->functions[closure->tag], closure, resultsOf(v));
}

/// Makes the current window the callee's. Arguments are staged above the window, for which the
/// loader has made room; nothing else is left in it.
template <class View>
BATON_EXEC Next enterInPlace(Frame& f, const View& v, const FunctionCode& callee, Object* closure) {
  const FunctionCode& current = currentFunction(f);
  const auto scalars = v.scalars();
  uint64_t* stagedScalars = f.s + current.scalarCount;
  for (uint32_t i = 0; i < scalars.size(); ++i) stagedScalars[i] = f.s[scalars[i].index()];
  const auto references = v.references();
  Object** staged = f.r + current.referenceCount;
  uint32_t referenceCount = 0;
  if (closure) staged[referenceCount++] = closure;
  for (uint32_t i = 0; i < references.size(); ++i) staged[referenceCount++] = take(f.r, references[i]);
  if (f.s + callee.scalarNeed > f.m->scalarEnd || f.r + callee.referenceNeed > f.m->referenceEnd)
      [[unlikely]] {
    const TailWindow window = moveTail(*f.m, f.s, f.r, callee, scalars.size(), referenceCount);
    if (!window.s) return nullptr;
    f.s = window.s;
    f.r = window.r;
    return callee.code;
  }
  for (uint32_t i = 0; i < scalars.size(); ++i) f.s[i] = stagedScalars[i];
  for (uint32_t i = 0; i < referenceCount; ++i) {
    Object* object = staged[i];
    staged[i] = nullptr;
    f.r[i] = object;
  }
  FrameRecord::of(f.s).function = &callee;
  return callee.code;
}

BATON_EXEC Next exec(bytecode::TailCall v, Frame& f) {
  if (mustStop(f)) [[unlikely]]
    return nullptr;
  return enterInPlace(f, v, f.m->functions[v.function().value()], nullptr);
}
BATON_EXEC Next exec(bytecode::TailCallClosure v, Frame& f) {
  if (mustStop(f)) [[unlikely]]
    return nullptr;
  Object* closure = take(f.r, v.closure());
  return enterInPlace(f, v, f.m->functions[closure->tag], closure);
}

BATON_EXEC Next exec(bytecode::Ret v, Frame& f) {
  const FrameRecord& record = FrameRecord::of(f.s);  // read word by word, as it was written
  Machine& m = *f.m;
  const auto caller = reinterpret_cast<uintptr_t>(record.callerScalars);
  const uintptr_t flags = caller & kFrameFlags;
  if (flags & kFrameIsOutermost) [[unlikely]]
    return returnOutermost(m, v, f.s, f.r);
  uint64_t* s = reinterpret_cast<uint64_t*>(reinterpret_cast<uintptr_t>(record.callerScalars) &
                                            ~uintptr_t{kFrameFlags});
  Object** r = record.callerReferences;
  const uint16_t* results = record.results;
  const auto scalars = v.scalars();
  for (uint32_t i = 0; i < scalars.size(); ++i) s[*results++ & 0x7fff] = f.s[scalars[i].index()];
  const auto references = v.references();
  for (uint32_t i = 0; i < references.size(); ++i)
    define(r, ReferenceOperand(*results++), take(f.r, references[i]));
  --m.depth;
  if (flags) [[unlikely]]
    leaveSegments(m, flags);
  f.s = s;
  f.r = r;
  return reinterpret_cast<const uint64_t*>((reinterpret_cast<uintptr_t>(results) + 7) & ~uintptr_t{7});
}

}  // namespace baton::vm

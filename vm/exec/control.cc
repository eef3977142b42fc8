#include "vm/exec/control.h"

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>
#include <new>

#include "vm/message.h"

namespace baton::vm {

bool failMessage(Machine& m, uint32_t message, bytecode::OperandList<ScalarOperand> values,
                 const uint64_t* s) try {
  boost::container::small_vector<uint64_t, 8> found;
  for (uint32_t i = 0; i < values.size(); ++i) found.push_back(s[values[i].index()]);
  return m.failProgram(formatMessage(m.program->messages[message], {found.data(), found.size()}));
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool failTag(Machine& m, uint32_t found, uint32_t expected) try {
  return m.failProgram(fmt::format("the value has constructor {}, expected constructor {}", found, expected));
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

bool failEmptyCell(Machine& m) try {
  return m.failProgram("the cell is empty: its value was taken out and none was written since");
} catch (const std::bad_alloc&) {
  return m.lackMemory();
}

const uint64_t* stopAtCall(Machine& m, int64_t fuel) try {
  if (fuel >= 0 && m.interrupt.load(std::memory_order_relaxed) == 0)
    m.fail(ErrorCode::LimitReached, fmt::format("call depth limit reached: {} frames allowed", m.depthLimit));
  return nullptr;
} catch (const std::bad_alloc&) {
  m.lackMemory();
  return nullptr;
}

bool enterSegment(Machine& m, const FunctionCode& callee, uint64_t* s, Object** r) {
  uintptr_t flags = 0;
  const auto push = [&](StackBank& bank, uint64_t words) {
    const uint64_t usedBytes = m.scalarStack.totalBytes() + m.referenceStack.totalBytes();
    try {
      Result<void> pushed = bank.push(words, usedBytes, m.stackLimitBytes);
      if (!pushed.has_value()) m.fail(std::move(pushed).assume_error());
      return pushed.has_value();
    } catch (const std::bad_alloc&) {
      return m.lackMemory();
    }
  };
  const bool needsScalars = s + callee.scalarNeed > m.scalarEnd;
  const bool needsReferences = r + callee.referenceNeed > m.referenceEnd;
  if (needsScalars) {
    if (!push(m.scalarStack, FrameRecord::kWords + callee.scalarNeed)) return false;
    s = m.scalarStack.begin() + FrameRecord::kWords;
    m.scalarEnd = m.scalarStack.end();
    flags |= kFrameBeginsScalars;
  }
  if (needsReferences) {
    if (!push(m.referenceStack, callee.referenceNeed)) {
      leaveSegments(m, flags);
      return false;
    }
    r = reinterpret_cast<Object**>(m.referenceStack.begin());
    m.referenceEnd = reinterpret_cast<Object**>(m.referenceStack.end());
    flags |= kFrameBeginsReferences;
  }
  m.newWindow = {s, r, flags};
  return true;
}

void leaveSegments(Machine& m, uintptr_t flags) {
  if (flags & kFrameBeginsScalars) {
    m.scalarStack.pop();
    m.scalarEnd = m.scalarStack.isEmpty() ? nullptr : m.scalarStack.end();
  }
  if (flags & kFrameBeginsReferences) {
    m.referenceStack.pop();
    m.referenceEnd =
        m.referenceStack.isEmpty() ? nullptr : reinterpret_cast<Object**>(m.referenceStack.end());
  }
}

TailWindow moveTail(Machine& m, uint64_t* s, Object** r, const FunctionCode& callee, uint32_t scalarCount,
                    uint32_t referenceCount) {
  const FunctionCode& current = *FrameRecord::of(s).function;
  const FrameRecord record = FrameRecord::of(s);
  const uint64_t* stagedScalars = s + current.scalarCount;
  Object** staged = r + current.referenceCount;
  if (!enterSegment(m, callee, s, r)) {
    for (uint32_t i = 0; i < referenceCount; ++i) {
      m.heap->release(staged[i]);
      staged[i] = nullptr;
    }
    return {nullptr, nullptr};
  }
  const auto [newScalars, newReferences, flags] = m.newWindow;
  for (uint32_t i = 0; i < scalarCount; ++i) newScalars[i] = stagedScalars[i];
  for (uint32_t i = 0; i < referenceCount; ++i) {
    Object* object = staged[i];
    staged[i] = nullptr;
    newReferences[i] = object;
  }
  // Segments that the frame had for itself are replaced, not stacked: tail calls do not grow.
  const auto before = reinterpret_cast<uintptr_t>(record.callerScalars);
  if (before & flags & kFrameBeginsScalars) m.scalarStack.dropBelowTop();
  if (before & flags & kFrameBeginsReferences) m.referenceStack.dropBelowTop();
  FrameRecord::of(newScalars) = {reinterpret_cast<uint64_t*>(before | flags), record.callerReferences,
                                 record.results, &callee};
  return {newScalars, newReferences};
}

const uint64_t* returnOutermost(Machine& m, bytecode::Ret v, uint64_t* s, Object** r) {
  const auto scalars = v.scalars();
  for (uint32_t i = 0; i < scalars.size(); ++i) m.scalarResults[i] = s[scalars[i].index()];
  const auto references = v.references();
  for (uint32_t i = 0; i < references.size(); ++i) m.referenceResults[i] = take(r, references[i]);
  m.hasFinished = true;
  return nullptr;
}

Result<void> Machine::enterOutermost(const FunctionCode& function) {
  BATON_TRY(scalarStack.push(FrameRecord::kWords + function.scalarNeed, 0, stackLimitBytes));
  scalarEnd = scalarStack.end();
  Result<void> pushed =
      referenceStack.push(function.referenceNeed, scalarStack.totalBytes(), stackLimitBytes);
  if (!pushed.has_value()) {
    leaveSegments(*this, kFrameBeginsScalars);
    return std::move(pushed).assume_error();
  }
  referenceEnd = reinterpret_cast<Object**>(referenceStack.end());
  uint64_t* s = scalarStack.begin() + FrameRecord::kWords;
  const uintptr_t flags = kFrameBeginsScalars | kFrameBeginsReferences;
  FrameRecord::of(s) = {reinterpret_cast<uint64_t*>(flags | kFrameIsOutermost), nullptr, nullptr, &function};
  scalars = s;
  references = reinterpret_cast<Object**>(referenceStack.begin());
  pc = function.code;
  depth = 0;
  hasFinished = false;
  return success();
}

bool Machine::failAllocation() try { return fail(heap->takeFailure()); } catch (const std::bad_alloc&) {
  return lackMemory();
}

void Machine::unwind() {
  while (scalars) {
    const FrameRecord record = FrameRecord::of(scalars);
    for (uint32_t i = 0; i < record.function->referenceCount; ++i) {
      if (!references[i]) continue;
      Object* object = references[i];
      references[i] = nullptr;
      heap->release(object);
    }
    const auto caller = reinterpret_cast<uintptr_t>(record.callerScalars);
    leaveSegments(*this, caller & kFrameFlags);
    scalars =
        caller & kFrameIsOutermost ? nullptr : reinterpret_cast<uint64_t*>(caller & ~uintptr_t{kFrameFlags});
    references = record.callerReferences;
  }
  references = nullptr;
  pc = nullptr;
  depth = 0;
}

}  // namespace baton::vm

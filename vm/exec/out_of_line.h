// What bodies of instructions leave to functions: the rare, the long, and everything that
// makes a message. They return false, or null, after recording an error in the machine. None lets
// an exception out: the loop's registers would be lost with it, and with them what frames hold.
#pragma once

#include <cstdint>

#include "bytecode/isa/instruction.h"
#include "vm/machine.h"

namespace baton::vm {

// -- Scalars --------------------------------------------------------------------------------
uint64_t castScalar(uint64_t bits, DType from, DType to);
/// Reading a NaN as an integer gives the canonical one.
uint64_t bitcastScalar(uint64_t bits, DType from, DType to);
[[gnu::cold]] bool failExtent(Machine& m, const char* operation, int64_t a, int64_t b);
[[gnu::cold]] bool failDivision(Machine& m, DType type, uint64_t a, uint64_t b);

// -- Control --------------------------------------------------------------------------------
[[gnu::cold]] bool failMessage(Machine& m, uint32_t message,
                               bytecode::OperandList<bytecode::ScalarOperand> values, const uint64_t* s);
/// A new window for `callee` in segments of its own where the current ones are too small, put
/// into Machine::newWindow; s and r are where it would have been.
[[gnu::cold]] bool enterSegment(Machine& m, const FunctionCode& callee, uint64_t* s, Object** r);
/// The other way.
[[gnu::cold]] void leaveSegments(Machine& m, uintptr_t flags);
/// Before a call: an error when it would be too deep, else nothing. Always null.
[[gnu::cold]] const uint64_t* stopAtCall(Machine& m, int64_t fuel);
/// A window for a tail call whose frame does not fit where the current one is; receives the
/// staged arguments. Null after a failure.
struct TailWindow {
  uint64_t* s;
  Object** r;
};
[[gnu::cold]] TailWindow moveTail(Machine& m, uint64_t* s, Object** r, const FunctionCode& callee,
                                  uint32_t scalarCount, uint32_t referenceCount);
[[gnu::cold]] const uint64_t* returnOutermost(Machine& m, bytecode::Ret v, uint64_t* s, Object** r);

// -- Data -----------------------------------------------------------------------------------
[[gnu::cold]] bool failTag(Machine& m, uint32_t found, uint32_t expected);
[[gnu::cold]] bool failEmptyCell(Machine& m);

// -- Arrays ---------------------------------------------------------------------------------
[[gnu::cold]] bool failElement(Machine& m, int64_t index, const Array& array);
bool arrayPush(bytecode::ArrayPushRef v, Machine& m, Object** r);
bool arrayPush(bytecode::ArrayPushScalar v, Machine& m, const uint64_t* s, Object** r);
bool arraySet(bytecode::ArraySetRef v, Machine& m, const uint64_t* s, Object** r);
bool arraySet(bytecode::ArraySetScalar v, Machine& m, const uint64_t* s, Object** r);
bool stackArray(bytecode::StackArray v, Machine& m, const uint64_t* s, Object** r);
bool concatArray(bytecode::ConcatArray v, Machine& m, const uint64_t* s, Object** r);
bool unstackArray(bytecode::UnstackArray v, Machine& m, Object** r);
bool splitArray(bytecode::SplitArray v, Machine& m, Object** r);

// -- Tensors --------------------------------------------------------------------------------
bool allocTensor(bytecode::AllocTensor v, Machine& m, const uint64_t* s, Object** r);
bool allocStorage(bytecode::AllocStorage v, Machine& m, const uint64_t* s, Object** r);
bool tensorAt(bytecode::TensorAt v, Machine& m, const uint64_t* s, Object** r);
bool allocReuse(bytecode::AllocReuse v, Machine& m, const uint64_t* s, Object** r);
bool expectTensor(bytecode::ExpectTensor v, Machine& m, const uint64_t* s, Object** r);
bool reshape(bytecode::Reshape v, Machine& m, const uint64_t* s, Object** r);
bool sliceOuter(bytecode::SliceOuter v, Machine& m, const uint64_t* s, Object** r);
bool indexOuter(bytecode::IndexOuter v, Machine& m, const uint64_t* s, Object** r);
bool storeOuter(bytecode::StoreOuter v, Machine& m, const uint64_t* s, Object** r);
bool storeOuterScalar(bytecode::StoreOuterScalar v, Machine& m, const uint64_t* s, Object** r);
bool extendOuter(bytecode::ExtendOuter v, Machine& m, const uint64_t* s, Object** r);
bool loadScalarFrom(bytecode::LoadScalar v, Machine& m, uint64_t* s, Object** r);
bool boxScalar(bytecode::BoxScalar v, Machine& m, const uint64_t* s, Object** r);

// -- Kernels --------------------------------------------------------------------------------
/// Instructions that the kernel counts for (interpreted ones), or a negative number when
/// execution has to stop. `fuel` is what is left.
int64_t callKernel(bytecode::CallKernel v, Machine& m, uint64_t* s, Object** r, int64_t fuel);

}  // namespace baton::vm

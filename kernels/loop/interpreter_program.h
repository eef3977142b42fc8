// The interpreter's flat form of a kernel: instructions over 64-bit registers, each with the
// function that carries it out. Private to interpreter*.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"
#include "baton/kernel_abi.h"
#include "kernels/abi/dim_program.h"
#include "kernels/loop/interpreter.h"
#include "kernels/loop/reduction_order.h"

namespace baton::loop {

struct Frame;
struct Instruction;

/// Carries out one instruction and gives the next, or null when the run is over.
using Handler = const Instruction* (*)(Frame& frame, const Instruction* instruction);

/// Meaning of the fields: see the handlers.
struct Instruction {
  Handler handler = nullptr;
  uint32_t dst = 0;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
  uint32_t x = 0;
  uint32_t y = 0;
};

/// State of a Reduce that is running; one for each depth of nesting.
struct Accumulator {
  union {
    OrderedReduction<float, Plus> floatSum;
    OrderedReduction<float, Times> floatProduct;
    OrderedReduction<double, Plus> doubleSum;
    OrderedReduction<double, Times> doubleProduct;
  };
  uint64_t value = 0;  ///< of the reductions whose order does not matter
  int64_t bestIndex = 0;
  int64_t count = 0;  ///< elements so far
  Accumulator() : floatSum() {}
};

struct BufferView {
  std::byte* data = nullptr;
  const int64_t* extents = nullptr;
};

struct Frame {
  uint64_t* registers;
  BufferView* buffers;
  Accumulator* accumulators;
  const uint32_t* lists;  ///< operand lists that do not fit an instruction
  const Instruction* code;
  const BatonKernelContext* context;
  int64_t* scalarOutputs;
  const InterpreterLimits* limits;
  int64_t untilProgress;
  int32_t status = BATON_KERNEL_OK;
};

/// Ends the run with BATON_KERNEL_FAILED.
const Instruction* failRun(Frame& frame, uint32_t message, const int64_t* values, uint32_t count);

// Handlers by what they do, for the compiler.
Handler valueHandler(Op op, DType operandType, DType resultType);
Handler loadHandler(DType type, size_t rank);
Handler storeHandler(DType type, size_t rank);
Handler reduceHandler(ReduceOp op, DType type);

}  // namespace baton::loop

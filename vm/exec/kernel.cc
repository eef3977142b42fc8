#include <new>
#include <utility>
#include <vector>

#include "vm/exec/frame.h"
#include "vm/exec/out_of_line.h"
#include "vm/kernel_runner.h"

namespace baton::vm {

namespace {

/// Room on the stack for the operands of one call; most kernels have few.
constexpr size_t kUsualOperands = 16;
constexpr size_t kUsualScalars = 24;

struct Arguments {
  Tensor** operands;
  void** buffers;
  int64_t* scalars;
};

int64_t callWith(Arguments arguments, bytecode::CallKernel v, const KernelPlan& plan, Machine& m, uint64_t* s,
                 Object** r, int64_t fuel) {
  const auto inputs = v.inputs();
  const auto outputs = v.outputs();
  uint32_t operand = 0;
  uint64_t addresses = 0;
  const auto take = [&](ReferenceOperand reference) {
    Tensor* tensor = asTensor(r[reference.index()]);
    arguments.operands[operand] = tensor;
    arguments.buffers[operand++] = tensor->data;
    addresses |= reinterpret_cast<uintptr_t>(tensor->data);
  };
  for (uint32_t i = 0; i < inputs.size(); ++i) take(inputs[i]);
  for (uint32_t i = 0; i < outputs.size(); ++i) take(outputs[i]);
  int64_t* scalarInputs = arguments.scalars + plan.symbolCount();
  for (uint32_t i = 0; i < plan.scalarInputCount(); ++i)
    scalarInputs[i] = static_cast<int64_t>(s[v.scalars()[i].index()]);
  if (!plan.check(arguments.operands, arguments.scalars, addresses)) [[unlikely]] {
    m.failProgram(plan.explain(arguments.operands, arguments.scalars));
    return -1;
  }

  int64_t left = fuel;
  if (!m.kernels->run(v.kernel().value(), arguments.buffers, arguments.scalars, m, left)) return -1;

  const int64_t* scalarOutputs = scalarInputs + plan.scalarInputCount();
  for (uint32_t i = 0; i < plan.scalarOutputCount(); ++i)
    s[v.scalarResults()[i].index()] = static_cast<uint64_t>(scalarOutputs[i]);
  const auto drop = [&](ReferenceOperand reference) {
    if (reference.isLastUse()) m.heap->release(std::exchange(r[reference.index()], nullptr));
  };
  for (uint32_t i = 0; i < inputs.size(); ++i) drop(inputs[i]);
  for (uint32_t i = 0; i < outputs.size(); ++i) drop(outputs[i]);
  return fuel - left;
}

}  // namespace

int64_t callKernel(bytecode::CallKernel v, Machine& m, uint64_t* s, Object** r, int64_t fuel) try {
  if (m.interrupt.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return -1;
  const KernelPlan& plan = m.kernels->binding(v.kernel().value()).plan;
  if (plan.operandCount() <= kUsualOperands && plan.scalarCount() <= kUsualScalars) [[likely]] {
    Tensor* operands[kUsualOperands];
    void* buffers[kUsualOperands];
    int64_t scalars[kUsualScalars];
    return callWith({operands, buffers, scalars}, v, plan, m, s, r, fuel);
  }
  std::vector<Tensor*> operands(plan.operandCount());
  std::vector<void*> buffers(plan.operandCount());
  std::vector<int64_t> scalars(plan.scalarCount());
  return callWith({operands.data(), buffers.data(), scalars.data()}, v, plan, m, s, r, fuel);
} catch (const std::bad_alloc&) {
  m.lackMemory();
  return -1;
}

}  // namespace baton::vm

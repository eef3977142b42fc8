#include <boost/container/small_vector.hpp>
#include <new>

#include "vm/exec/frame.h"
#include "vm/exec/out_of_line.h"
#include "vm/kernel_runner.h"

namespace baton::vm {

namespace {

/// Room for the operands of one call; most kernels have few.
constexpr size_t kUsualOperands = 16;
constexpr size_t kUsualScalars = 24;

template <class T, size_t kUsual>
struct Room {
  explicit Room(size_t count) : data(local) {
    if (count > kUsual) [[unlikely]] {
      large.resize(count);
      data = large.data();
    }
  }
  T local[kUsual];
  std::vector<T> large;
  T* data;
};

}  // namespace

int64_t callKernel(bytecode::CallKernel v, Machine& m, uint64_t* s, Object** r, int64_t fuel) try {
  if (m.interrupt.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return -1;
  const uint32_t kernel = v.kernel().value();
  const KernelBinding& binding = m.kernels->binding(kernel);
  const KernelPlan& plan = binding.plan;
  const auto inputs = v.inputs();
  const auto outputs = v.outputs();
  Room<Tensor*, kUsualOperands> operands(plan.operandCount());
  Room<void*, kUsualOperands> buffers(plan.operandCount());
  Room<int64_t, kUsualScalars> scalars(plan.scalarCount());

  for (uint32_t i = 0; i < inputs.size(); ++i) operands.data[i] = asTensor(r[inputs[i].index()]);
  for (uint32_t i = 0; i < outputs.size(); ++i)
    operands.data[inputs.size() + i] = asTensor(r[outputs[i].index()]);
  for (uint32_t i = 0; i < plan.operandCount(); ++i) buffers.data[i] = operands.data[i]->data;
  int64_t* scalarInputs = scalars.data + plan.symbolCount();
  for (uint32_t i = 0; i < plan.scalarInputCount(); ++i)
    scalarInputs[i] = static_cast<int64_t>(s[v.scalars()[i].index()]);
  if (!plan.check(operands.data, scalars.data)) [[unlikely]] {
    m.failProgram(plan.explain(operands.data, scalars.data));
    return -1;
  }

  int64_t left = fuel;
  if (!m.kernels->run(kernel, buffers.data, scalars.data, m, left)) return -1;

  const int64_t* scalarOutputs = scalarInputs + plan.scalarInputCount();
  for (uint32_t i = 0; i < plan.scalarOutputCount(); ++i)
    s[v.scalarResults()[i].index()] = static_cast<uint64_t>(scalarOutputs[i]);
  const auto drop = [&](ReferenceOperand operand) {
    if (!operand.isLastUse()) return;
    Object*& slot = r[operand.index()];
    m.heap->release(std::exchange(slot, nullptr));
  };
  for (uint32_t i = 0; i < inputs.size(); ++i) drop(inputs[i]);
  for (uint32_t i = 0; i < outputs.size(); ++i) drop(outputs[i]);
  return fuel - left;
} catch (const std::bad_alloc&) {
  m.lackMemory();
  return -1;
}

}  // namespace baton::vm

#include "kernels/loop/kernel.h"

#include "base/checked_math.h"
#include "base/error.h"

namespace baton::loop {

int64_t LocalArray::elementCount() const { return checkedElementCount(extents).value_or(INT64_MAX); }

namespace {

const KernelOperand& operandOf(const Kernel& kernel, BufferIndex buffer) {
  const size_t inputs = kernel.descriptor.inputs.size();
  return buffer.value() < inputs ? kernel.descriptor.inputs[buffer.value()]
                                 : kernel.descriptor.outputs[buffer.value() - inputs];
}

}  // namespace

DType Kernel::bufferType(BufferIndex buffer) const {
  if (!isScratch(buffer)) return operandOf(*this, buffer).dtype;
  return scratch[buffer.value() - descriptor.inputs.size() - descriptor.outputs.size()].dtype;
}

const std::vector<DimExpr>& Kernel::bufferExtents(BufferIndex buffer) const {
  if (!isScratch(buffer)) return operandOf(*this, buffer).extents;
  return scratch[buffer.value() - descriptor.inputs.size() - descriptor.outputs.size()].extents;
}

LoopParts loopParts(const Kernel& kernel, const Node& forOrReduce) {
  const std::span<const NodeId> all = kernel.operandsOf(forOrReduce);
  const size_t rank = all.size() / 2;  // a Reduce has one operand more, its value
  return {all.first(rank), all.subspan(rank, rank)};
}

std::string_view loopName(const Kernel& kernel, const Node& forOrReduce) {
  return forOrReduce.target == 0 ? std::string_view() : kernel.loopNames[forOrReduce.target - 1];
}

NodeId reducedValue(const Kernel& kernel, const Node& reduce) { return kernel.operandsOf(reduce).back(); }

}  // namespace baton::loop

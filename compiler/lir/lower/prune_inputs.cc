#include "compiler/lir/lower/prune_inputs.h"

#include <algorithm>

namespace baton::lir {

std::vector<bool> pruneInputs(loop::Kernel& kernel) {
  KernelDescriptor& descriptor = kernel.descriptor;
  const size_t inputCount = descriptor.inputs.size();
  std::vector<bool> isGone(inputCount, true);
  const auto keep = [&](uint32_t buffer) {
    if (buffer < inputCount) isGone[buffer] = false;
  };
  for (const loop::Node& node : kernel.nodes)
    if (node.op == loop::Op::Load || node.op == loop::Op::Store) keep(node.target);
  for (const KernelSymbol& symbol : descriptor.symbols)
    if (symbol.from == KernelSymbol::From::Operand) keep(symbol.index);
  if (std::find(isGone.begin(), isGone.end(), true) == isGone.end()) return isGone;

  // Buffers are numbered inputs first, so whatever follows moves up.
  std::vector<uint32_t> number(inputCount);
  uint32_t kept = 0;
  for (size_t i = 0; i < inputCount; ++i) {
    number[i] = kept;
    if (isGone[i]) continue;
    if (kept != i) descriptor.inputs[kept] = std::move(descriptor.inputs[i]);
    ++kept;
  }
  descriptor.inputs.resize(kept);
  const uint32_t removed = static_cast<uint32_t>(inputCount) - kept;
  const auto renumber = [&](uint32_t buffer) {
    return buffer < inputCount ? number[buffer] : buffer - removed;
  };
  for (loop::Node& node : kernel.nodes)
    if (node.op == loop::Op::Load || node.op == loop::Op::Store) node.target = renumber(node.target);
  for (KernelSymbol& symbol : descriptor.symbols)
    if (symbol.from == KernelSymbol::From::Operand) symbol.index = renumber(symbol.index);
  for (KernelOperand& output : descriptor.outputs) {
    std::erase_if(output.mayAlias, [&](uint32_t input) { return isGone[input]; });
    for (uint32_t& input : output.mayAlias) input = renumber(input);
  }
  return isGone;
}

}  // namespace baton::lir

#include <algorithm>
#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/liveness.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

class Reuse {
 public:
  Reuse(const Module& module, Function& function)
      : module_(module),
        function_(function),
        flow_(function),
        liveness_(function, flow_),
        live_(function.registers.size()),
        sourceOf_(function.registers.size(), kNoRegister) {}

  void run() {
    for (BlockId id : flow_.order()) runOnBlock(function_.block(id), id);
  }

 private:
  void runOnBlock(Block& block, BlockId id) {
    live_.clear();
    for (BlockId successor : flow_.successors(id))
      for (Register reg : liveness_.liveIn(successor)) live_.insert(reg);
    for (size_t i = block.instructions.size(); i-- > 0;) {
      Instruction& instruction = block.instructions[i];
      forEachDef(function_, instruction, [&](uint64_t slot, OperandKind) { live_.erase(registerOf(slot)); });
      if (instruction.opcode == Opcode::CallKernel) pairOperands(instruction);
      if (instruction.opcode == Opcode::AllocTensor) rewrite(block, i);
      forEachUse(function_, instruction, [&](uint64_t slot, OperandKind) { live_.insert(registerOf(slot)); });
    }
    // The source must be live where the tensor is allocated, which holds within the block only.
    for (const Register output : pending_) sourceOf_[output.value()] = kNoRegister;
    pending_.clear();
  }

  /// Notes for each output which dying input it may take over. `live_` is what is live after.
  void pairOperands(const Instruction& call) {
    const KernelDescriptor& kernel = module_.tables.kernels[fixedOperand(function_, call, 0)];
    const std::span<const uint64_t> inputs = listOperand(function_, call, 1);
    const std::span<const uint64_t> outputs = listOperand(function_, call, 2);
    std::vector<Register> taken;
    for (size_t o = 0; o < outputs.size(); ++o) {
      for (uint32_t candidate : kernel.outputs[o].mayAlias) {
        const Register source = registerOf(inputs[candidate]);
        if (live_.contains(source) || std::find(taken.begin(), taken.end(), source) != taken.end()) continue;
        if (!agrees(kernel.inputs[candidate], kernel.outputs[o])) continue;
        if (!isReadOnlyAsAlias(kernel.outputs[o], inputs, source)) continue;
        taken.push_back(source);
        sourceOf_[registerOf(outputs[o]).value()] = source;
        pending_.push_back(registerOf(outputs[o]));
        break;
      }
    }
  }

  static bool agrees(const KernelOperand& input, const KernelOperand& output) {
    return sizeBytes(input.dtype) == sizeBytes(output.dtype) && input.device == output.device &&
           input.extents == output.extents;
  }

  /// Every operand that is this tensor must be one that the output may share memory with.
  static bool isReadOnlyAsAlias(const KernelOperand& output, std::span<const uint64_t> inputs,
                                Register source) {
    for (uint32_t i = 0; i < inputs.size(); ++i)
      if (registerOf(inputs[i]) == source &&
          std::find(output.mayAlias.begin(), output.mayAlias.end(), i) == output.mayAlias.end())
        return false;
    return true;
  }

  void rewrite(Block& block, size_t position) {
    const Instruction alloc = block.instructions[position];
    const Register output = registerOperand(function_, alloc, 0);
    const Register source = sourceOf_[output.value()];
    if (source == kNoRegister || !isDefinedBefore(block, position, source)) return;
    std::vector<Register> extents;
    for (uint64_t slot : listOperand(function_, alloc, 3)) extents.push_back(registerOf(slot));
    const DType dtype = static_cast<DType>(fixedOperand(function_, alloc, 1));
    Instruction reuse = makeInstruction(function_, Opcode::AllocReuse, {output, source, dtype, extents});
    reuse.location = alloc.location;
    reuse.name = alloc.name;
    block.instructions[position] = reuse;
  }

  /// Outputs are usually allocated right before their kernel; an allocation that was moved in
  /// front of the source's definition stays a plain one.
  bool isDefinedBefore(const Block& block, size_t position, Register source) const {
    const Register output = registerOperand(function_, block.instructions[position], 0);
    for (size_t i = position + 1; i < block.instructions.size(); ++i) {
      const Instruction& instruction = block.instructions[i];
      bool definesSource = false;
      bool readsOutput = false;
      forEachSlot(function_, instruction, [&](uint64_t slot, OperandKind kind, size_t) {
        definesSource |= bytecode::isDef(kind) && registerOf(slot) == source;
        readsOutput |= isUse(kind) && registerOf(slot) == output;
      });
      if (definesSource) return false;
      if (readsOutput) return true;
    }
    return true;
  }

  const Module& module_;
  Function& function_;
  ControlFlow flow_;
  Liveness liveness_;
  RegisterSet live_;
  std::vector<Register> sourceOf_;
  std::vector<Register> pending_;
};

}  // namespace

void reuseInPlace(const Module& module, Function& function) { Reuse(module, function).run(); }

}  // namespace baton::lir

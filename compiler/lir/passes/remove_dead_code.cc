// Marks what is needed from the instructions that have effects, then sweeps. Parameters of
// blocks are needed only when a needed instruction reads them, directly or through others,
// so values that only go round a loop vanish too. A kernel is needed for what it writes: it
// goes when nobody reads its results.
#include <vector>

#include "compiler/lir/cfg.h"
#include "compiler/lir/operands.h"
#include "compiler/lir/passes/passes.h"

namespace baton::lir {

namespace {

struct Site {
  BlockId block = kNoBlock;
  uint32_t instruction = kParameter;  ///< kParameter: `parameter` of the block
  uint32_t parameter = 0;
  static constexpr uint32_t kParameter = UINT32_MAX;
};

class DeadCode {
 public:
  explicit DeadCode(Function& function)
      : function_(function),
        flow_(function),
        sites_(function.registers.size()),
        writers_(function.registers.size()),
        isNeeded_(function.registers.size()),
        seen_(function.blocks.size()) {}

  void run() {
    findSites();
    markRoots();
    while (!work_.empty()) {
      const Register reg = work_.back();
      work_.pop_back();
      for (const Site& writer : writers_[reg.value()]) needOperands(writer);
      const Site& site = sites_[reg.value()];
      if (site.instruction == Site::kParameter)
        needArguments(site);
      else
        needOperands(site);
    }
    sweep();
  }

 private:
  void findSites() {
    for (BlockId id : flow_.order()) {
      const Block& block = function_.block(id);
      for (uint32_t p = 0; p < block.params.size(); ++p)
        sites_[block.params[p].value()] = {id, Site::kParameter, p};
      for (uint32_t i = 0; i < block.instructions.size(); ++i) {
        forEachDef(function_, block.instructions[i],
                   [&](uint64_t slot, OperandKind) { sites_[registerOf(slot).value()] = {id, i, 0}; });
        if (block.instructions[i].opcode == Opcode::CallKernel)
          for (uint64_t slot : listOperand(function_, block.instructions[i], kKernelOutputs))
            writers_[registerOf(slot).value()].push_back({id, i, 0});
      }
    }
  }

  void need(Register reg) {
    if (isNeeded_[reg.value()]) return;
    isNeeded_[reg.value()] = true;
    work_.push_back(reg);
  }

  /// Once for an instruction, however many results it has.
  void needOperands(const Site& site) {
    std::vector<bool>& seen = seen_[site.block.value()];
    const std::vector<Instruction>& instructions = function_.block(site.block).instructions;
    seen.resize(instructions.size());
    if (seen[site.instruction]) return;
    seen[site.instruction] = true;
    needOperands(instructions[site.instruction]);
  }

  void needOperands(const Instruction& instruction) {
    // Other results of the same instruction stay with it, but need nothing more.
    forEachUse(function_, instruction, [&](uint64_t slot, OperandKind) { need(registerOf(slot)); });
  }

  void needArguments(const Site& site) {
    for (BlockId predecessor : flow_.predecessors(site.block))
      need(registerOf(listOperand(function_, terminatorOf(function_.block(predecessor)), 1)[site.parameter]));
  }

  void markRoots() {
    for (Register param : function_.blocks[0].params) isNeeded_[param.value()] = true;
    for (BlockId id : flow_.order())
      for (const Instruction& instruction : function_.block(id).instructions)
        if (isRoot(instruction)) needOperands(instruction);
  }

  bool hasResults(const Instruction& kernel) const {
    return fixedOperand(function_, kernel, kKernelOutputs) +
               fixedOperand(function_, kernel, kKernelScalars) !=
           0;
  }

  bool isRoot(const Instruction& instruction) const {
    if (instruction.opcode == Opcode::CallKernel) return !hasResults(instruction);
    return !isRemovable(instruction) && instruction.opcode != Opcode::Jump;
  }

  bool isKept(const Instruction& instruction) const {
    bool kept = false;
    if (instruction.opcode == Opcode::CallKernel) {
      if (!hasResults(instruction)) return true;
      for (uint64_t slot : listOperand(function_, instruction, kKernelOutputs))
        kept |= isNeeded_[registerOf(slot).value()];
    } else if (!isRemovable(instruction)) {
      return true;
    }
    forEachDef(function_, instruction,
               [&](uint64_t slot, OperandKind) { kept |= isNeeded_[registerOf(slot).value()]; });
    return kept;
  }

  void sweep() {
    for (BlockId id : flow_.order()) {
      Block& block = function_.block(id);
      std::erase_if(block.instructions, [&](const Instruction& i) { return !isKept(i); });
      const Instruction& terminator = block.instructions.back();
      if (terminator.opcode != Opcode::Jump) continue;
      const BlockId target = flow_.successors(id)[0];
      const std::vector<Register>& params = function_.block(target).params;
      const std::span<uint64_t> arguments = listOperand(function_, terminator, 1);
      uint32_t kept = 0;
      for (uint32_t p = 0; p < params.size(); ++p)
        if (isNeeded_[params[p].value()]) arguments[kept++] = arguments[p];
      function_.slots[terminator.firstSlot + 1] = kept;
    }
    for (size_t b = 1; b < function_.blocks.size(); ++b)
      std::erase_if(function_.blocks[b].params, [&](Register param) { return !isNeeded_[param.value()]; });
  }

  Function& function_;
  ControlFlow flow_;
  static constexpr size_t kKernelOutputs = 2;
  static constexpr size_t kKernelScalars = 4;
  std::vector<Site> sites_;
  std::vector<std::vector<Site>> writers_;  // kernels that write the tensor
  std::vector<bool> isNeeded_;
  std::vector<std::vector<bool>> seen_;  // by block and instruction: its operands are needed
  std::vector<Register> work_;
};

}  // namespace

void removeDeadCode(Function& function) { DeadCode(function).run(); }

}  // namespace baton::lir

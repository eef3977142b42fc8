#include "compiler/lir/liveness.h"

#include "compiler/lir/operands.h"

namespace baton::lir {

namespace {

/// Blocks that read a register defined in another block, grouped by register.
struct OutsideUses {
  std::vector<uint32_t> begin;
  std::vector<BlockId> blocks;
};

std::vector<BlockId> definitionBlocks(const Function& function, const ControlFlow& flow) {
  std::vector<BlockId> definedIn(function.registers.size(), kNoBlock);
  for (BlockId id : flow.order()) {
    for (Register param : function.block(id).params) definedIn[param.value()] = id;
    for (const Instruction& instruction : function.block(id).instructions)
      forEachDef(function, instruction,
                 [&](uint64_t slot, OperandKind) { definedIn[registerOf(slot).value()] = id; });
  }
  return definedIn;
}

template <class F>
void forEachOutsideUse(const Function& function, const ControlFlow& flow,
                       const std::vector<BlockId>& definedIn, F&& f) {
  RegisterSet seen(function.registers.size());
  for (BlockId id : flow.order()) {
    seen.clear();
    for (const Instruction& instruction : function.block(id).instructions)
      forEachUse(function, instruction, [&](uint64_t slot, OperandKind) {
        const Register reg = registerOf(slot);
        if (definedIn[reg.value()] != id && seen.insert(reg)) f(reg, id);
      });
  }
}

}  // namespace

// Per register: live into every block on a path from its definition to a use elsewhere
// (Boissinot et al., Computing Liveness Sets for SSA-Form Programs, path exploration by variable).
Liveness::Liveness(const Function& function, const ControlFlow& flow) : liveIn_(function.blocks.size()) {
  const std::vector<BlockId> definedIn = definitionBlocks(function, flow);
  OutsideUses uses;
  uses.begin.assign(function.registers.size() + 1, 0);
  forEachOutsideUse(function, flow, definedIn, [&](Register reg, BlockId) { ++uses.begin[reg.value() + 1]; });
  for (size_t i = 1; i < uses.begin.size(); ++i) uses.begin[i] += uses.begin[i - 1];
  uses.blocks.resize(uses.begin.back());
  std::vector<uint32_t> next = uses.begin;
  forEachOutsideUse(function, flow, definedIn,
                    [&](Register reg, BlockId block) { uses.blocks[next[reg.value()]++] = block; });

  std::vector<BlockId> work;
  for (uint32_t r = 0; r < function.registers.size(); ++r) {
    for (uint32_t u = uses.begin[r]; u < uses.begin[r + 1]; ++u) work.push_back(uses.blocks[u]);
    while (!work.empty()) {
      const BlockId block = work.back();
      work.pop_back();
      std::vector<Register>& live = liveIn_[block.value()];
      if (!live.empty() && live.back() == Register(r)) continue;
      live.push_back(Register(r));
      for (BlockId predecessor : flow.predecessors(block))
        if (predecessor != definedIn[r]) work.push_back(predecessor);
    }
  }
}

}  // namespace baton::lir

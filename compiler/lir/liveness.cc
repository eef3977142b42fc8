#include "compiler/lir/liveness.h"

#include <algorithm>
#include <iterator>

#include "compiler/lir/operands.h"

namespace baton::lir {

namespace {

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

/// Whether a loop has more than one entry.
bool isIrreducible(const ControlFlow& flow) {
  for (BlockId id : flow.order())
    for (BlockId successor : flow.successors(id))
      if (flow.position(successor) <= flow.position(id) && !flow.dominates(successor, id)) return true;
  return false;
}

}  // namespace

// One pass from the ends to the entry, then what is live into the header of a loop is live in all of it
// (Boissinot et al., Computing Liveness Sets for SSA-Form Programs, loop-nesting forest). A loop of
// several entries has no such header: passes go on until nothing grows. Each set is gone through in
// order, so the work is what the sets hold.
Liveness::Liveness(const Function& function, const ControlFlow& flow) : liveIn_(function.blocks.size()) {
  const std::vector<BlockId> definedIn = definitionBlocks(function, flow);
  std::vector<Register> sum;
  const auto add = [&](std::vector<Register>& to, const std::vector<Register>& from) {
    if (from.empty()) return;
    sum.clear();
    std::set_union(to.begin(), to.end(), from.begin(), from.end(), std::back_inserter(sum));
    std::swap(to, sum);
  };

  std::vector<Register> live;
  std::vector<Register> used;
  // Whether a set has grown.
  const auto set = [&](BlockId id) {
    std::vector<Register>& known = liveIn_[id.value()];
    add(live, known);
    if (live.size() == known.size()) return false;
    known.assign(live.begin(), live.end());
    return true;
  };
  const auto pass = [&] {
    bool hasGrown = false;
    for (size_t i = flow.order().size(); i-- > 0;) {
      const BlockId id = flow.order()[i];
      const auto isDefinedHere = [&](Register reg) { return definedIn[reg.value()] == id; };
      live.clear();
      for (BlockId successor : flow.successors(id)) add(live, liveIn_[successor.value()]);
      std::erase_if(live, isDefinedHere);
      used.clear();
      for (const Instruction& instruction : function.block(id).instructions)
        forEachUse(function, instruction, [&](uint64_t slot, OperandKind) {
          if (!isDefinedHere(registerOf(slot))) used.push_back(registerOf(slot));
        });
      std::sort(used.begin(), used.end());
      used.erase(std::unique(used.begin(), used.end()), used.end());
      add(live, used);
      hasGrown = set(id) || hasGrown;
    }
    return hasGrown;
  };

  pass();
  for (BlockId id : flow.order()) {
    const BlockId own = flow.loopHeader(id);
    const BlockId header = own == id ? flow.outerLoop(id) : own;
    if (header == kNoBlock) continue;
    live = liveIn_[header.value()];
    set(id);
  }
  while (isIrreducible(flow) && pass()) {
  }
}

}  // namespace baton::lir

#include "compiler/passes/call_graph.h"

#include <algorithm>

#include "compiler/ir/walk.h"

namespace baton::passes {

using ir::Atom;
using ir::GlobalId;

CallGraph::CallGraph(const ir::Module& module)
    : group(module.functions.size(), 0),
      isRecursive(module.functions.size(), false),
      directCalls(module.functions.size(), 0),
      isValue(module.functions.size(), false) {
  const uint32_t count = static_cast<uint32_t>(module.functions.size());
  std::vector<std::vector<uint32_t>> callees(count);
  for (uint32_t i = 0; i < count; ++i) {
    const ir::Function& function = module.functions[i];
    auto value = [&](const Atom& atom) {
      if (!atom.isGlobal()) return;
      isValue[atom.global().value()] = true;
      // A value may be called where it is made.
      callees[i].push_back(atom.global().value());
    };
    for (ir::BlockId id : ir::blocksInOrder(function, function.body)) {
      const ir::Block& block = function.block(id);
      for (const ir::Binding& binding : block.bindings) {
        ir::forEachOperand(binding.rhs, value);
        if (const auto* call = std::get_if<ir::CallGlobal>(&binding.rhs)) {
          callees[i].push_back(call->callee.value());
          ++directCalls[call->callee.value()];
        }
      }
      value(block.result);
    }
  }

  // Tarjan's strongly connected components, with the stack of calls as data.
  constexpr uint32_t kUnseen = UINT32_MAX;
  std::vector<uint32_t> index(count, kUnseen), low(count, 0);
  std::vector<bool> onStack(count, false);
  std::vector<uint32_t> stack;
  uint32_t next = 0;
  uint32_t groupCount = 0;
  struct Visit {
    uint32_t function;
    size_t edge = 0;
  };
  for (uint32_t root = 0; root < count; ++root) {
    if (index[root] != kUnseen) continue;
    std::vector<Visit> visits{{root}};
    while (!visits.empty()) {
      const uint32_t function = visits.back().function;
      if (visits.back().edge == 0) {
        index[function] = low[function] = next++;
        stack.push_back(function);
        onStack[function] = true;
      }
      bool descends = false;
      while (visits.back().edge < callees[function].size()) {
        const uint32_t callee = callees[function][visits.back().edge++];
        if (index[callee] == kUnseen) {
          visits.push_back({callee});
          descends = true;
          break;
        }
        if (onStack[callee]) low[function] = std::min(low[function], index[callee]);
        if (callee == function) isRecursive[function] = true;
      }
      if (descends) continue;
      visits.pop_back();
      if (!visits.empty()) {
        const uint32_t caller = visits.back().function;
        low[caller] = std::min(low[caller], low[function]);
      }
      if (low[function] != index[function]) continue;
      const bool isAlone = stack.back() == function;
      const uint32_t groupId = groupCount++;
      while (true) {
        const uint32_t member = stack.back();
        stack.pop_back();
        onStack[member] = false;
        if (!isAlone) isRecursive[member] = true;
        order.push_back(GlobalId(member));
        group[member] = groupId;
        if (member == function) break;
      }
    }
  }
}

}  // namespace baton::passes

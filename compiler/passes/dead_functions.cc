#include "compiler/passes/registry.h"

#include <vector>

#include "compiler/ir/walk.h"

namespace baton::passes {
namespace {

using ir::Atom;
using ir::ConstantId;
using ir::GlobalId;

/// Every function and constant that the function mentions, as a reference that may be changed.
template <class F, class C>
void forEachReference(ir::Function& function, const F& onFunction, const C& onConstant) {
  auto atom = [&](Atom& operand) {
    if (operand.isGlobal()) {
      GlobalId id = operand.global();
      onFunction(id);
      operand = id;
    } else if (operand.isConstant()) {
      ConstantId id = operand.constant();
      onConstant(id);
      operand = id;
    }
  };
  for (ir::BlockId id : ir::blocksInOrder(function, function.body)) {
    ir::Block& block = function.block(id);
    for (ir::Binding& binding : block.bindings) {
      ir::forEachOperand(binding.rhs, atom);
      if (auto* call = std::get_if<ir::CallGlobal>(&binding.rhs)) onFunction(call->callee);
    }
    atom(block.result);
  }
}

Result<void> dropDeadFunctions(ir::Module& module, PassContext&) {
  std::vector<bool> functionLives(module.functions.size());
  std::vector<bool> constantLives(module.constants.size());
  std::vector<GlobalId> work;
  auto reach = [&](GlobalId id) {
    if (functionLives[id.value()]) return;
    functionLives[id.value()] = true;
    work.push_back(id);
  };
  for (uint32_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].isExported) reach(GlobalId(i));
  while (!work.empty()) {
    const GlobalId id = work.back();
    work.pop_back();
    forEachReference(module.function(id), reach,
                     [&](ConstantId constant) { constantLives[constant.value()] = true; });
  }

  std::vector<GlobalId> newFunction(module.functions.size());
  std::vector<ConstantId> newConstant(module.constants.size());
  uint32_t functionCount = 0;
  uint32_t constantCount = 0;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    if (!functionLives[i]) continue;
    newFunction[i] = GlobalId(functionCount);
    if (i != functionCount) module.functions[functionCount] = std::move(module.functions[i]);
    ++functionCount;
  }
  for (size_t i = 0; i < module.constants.size(); ++i) {
    if (!constantLives[i]) continue;
    newConstant[i] = ConstantId(constantCount);
    if (i != constantCount) module.constants[constantCount] = std::move(module.constants[i]);
    ++constantCount;
  }
  module.functions.resize(functionCount);
  module.constants.resize(constantCount);
  for (ir::Function& function : module.functions) {
    forEachReference(
        function, [&](GlobalId& id) { id = newFunction[id.value()]; },
        [&](ConstantId& id) { id = newConstant[id.value()]; });
  }
  return success();
}

}  // namespace

constinit const PassInfo kDeadFunctionsPass{
    .name = "dead-functions",
    .summary = "drop functions that no entry point reaches",
    .documentation = R"(Keeps what exported functions reach, and the constants that those use.)",
    .run = dropDeadFunctions,
};

}  // namespace baton::passes

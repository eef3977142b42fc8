#include "compiler/lir/pipeline.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/lir/cfg.h"
#include "compiler/lir/passes/passes.h"
#include "compiler/lir/verifier.h"

namespace baton::lir {

namespace {

template <void (*Pass)(Function&)>
Result<void> onEach(Module& module) {
  for (Function& function : module.functions) Pass(function);
  return success();
}

constexpr PassInfo kPasses[] = {
    {"lir-layout", "orders blocks and drops those that cannot be reached", 0, onEach<layOutBlocks>},
    {"lir-simplify", "copies, trivial parameters, constant branches and single jumps go", 1,
     onEach<simplify>},
    {"lir-redundancy", "computes what is computed already no second time", 1, onEach<removeRedundancy>},
    {"lir-dead-code", "removes what has no use", 0, onEach<removeDeadCode>},
    {"lir-captures", "closures capture only what their functions read", 1, pruneCaptures},
    {"lir-hoist", "moves constants and invariants out of loops", 1, onEach<hoistInvariants>},
    {"lir-redundancy", "computes what is computed already no second time", 1, onEach<removeRedundancy>},
    {"lir-simplify", "copies, trivial parameters, constant branches and single jumps go", 1,
     onEach<simplify>},
    {"lir-dead-code", "removes what has no use", 0, onEach<removeDeadCode>},
    {"lir-take", "moves values out of cells that are written again", 0,
     [](Module& module) -> Result<void> {
       takeFromCells(module);
       return success();
     }},
    {"lir-reuse", "lets kernels write over inputs that die", 1,
     [](Module& module) -> Result<void> {
       for (Function& function : module.functions) reuseInPlace(module, function);
       return success();
     }},
    {"lir-last-uses", "marks last uses and drops what dies on an edge", 0, onEach<markLastUses>},
    {"lir-registers", "assigns registers", 0,
     [](Module& module) -> Result<void> {
       for (Function& function : module.functions) BATON_TRY(allocateRegisters(function));
       return success();
     }},
};

}  // namespace

std::span<const PassInfo> allPasses() { return kPasses; }

Result<void> runPipeline(Module& module, const PipelineOptions& options) {
  for (const PassInfo& pass : kPasses) {
    const bool isDisabled =
        std::find(options.disabled.begin(), options.disabled.end(), pass.name) != options.disabled.end();
    if (isDisabled && pass.level == 0)
      return Error(ErrorCode::InvalidArgument, fmt::format("pass {} cannot be disabled", pass.name));
    if (isDisabled || pass.level > options.level) continue;
    if (options.observer) options.observer(pass, false, module);
    BATON_TRY(pass.run(module));
    for (const Function& function : module.functions) {
      if (!options.verifyEach || function.isAllocated) continue;
      Result<void> verified = verify(module, function);
      if (!verified.has_value())
        return std::move(verified).assume_error().withContext(fmt::format("after {}", pass.name));
    }
    if (options.observer) options.observer(pass, true, module);
  }
  return success();
}

}  // namespace baton::lir

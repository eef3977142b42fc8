#include "compiler/passes/pass_manager.h"

#include "compiler/passes/fingerprint.h"

namespace baton::passes {

Result<void> Instrument::before(const PipelineStep&, const ir::Module&) { return success(); }
Result<void> Instrument::after(const PipelineStep&, ir::Module&, std::chrono::nanoseconds) {
  return success();
}

Result<void> runPass(ir::Module& module, const PipelineStep& step, PassContext& context) {
  context.pass = step.pass;
  context.options = step.options;
  Result<void> result = step.pass->run(module, context);
  context.pass = nullptr;
  context.options = {};
  return result;
}

Result<void> runPipeline(ir::Module& module, const Pipeline& pipeline, PassContext& context,
                         std::span<Instrument* const> instruments) {
  BATON_TRY(propertiesAfter(pipeline));
  struct Level {
    const PipelineStep* repeat;  // null outermost
    const Pipeline* steps;
    size_t next = 0;
    uint64_t round = 1;
    uint64_t fingerprint = 0;  // of the module when the round began
  };
  std::vector<Level> levels{{nullptr, &pipeline}};
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next == level.steps->size()) {
      if (level.repeat != nullptr && level.round < level.repeat->maxRounds) {
        const uint64_t now = fingerprint(module);
        if (now != level.fingerprint) {
          level.fingerprint = now;
          level.next = 0;
          ++level.round;
          continue;
        }
      }
      levels.pop_back();
      continue;
    }
    const PipelineStep& step = (*level.steps)[level.next++];
    if (step.pass == nullptr) {
      if (step.maxRounds > 0 && !step.body.empty())
        levels.push_back({&step, &step.body, 0, 1, step.maxRounds > 1 ? fingerprint(module) : 0});
      continue;
    }
    for (Instrument* instrument : instruments) BATON_TRY(instrument->before(step, module));
    const auto start = std::chrono::steady_clock::now();
    BATON_TRY(runPass(module, step, context));
    const auto time = std::chrono::steady_clock::now() - start;
    if (context.diagnostics.hasErrors()) return success();
    for (Instrument* instrument : instruments) BATON_TRY(instrument->after(step, module, time));
  }
  return success();
}

}  // namespace baton::passes

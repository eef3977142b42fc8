// Runs passes, with whoever wants to look on.
#pragma once

#include <chrono>
#include <span>

#include "compiler/passes/pass.h"
#include "compiler/passes/pipeline.h"
#include "compiler/passes/registry.h"

namespace baton::passes {

/// Looks on while a pipeline runs. An error ends the run. A step that is repeated is seen
/// again in each round.
class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual Result<void> before(const PipelineStep& step, const ir::Module& module);
  virtual Result<void> after(const PipelineStep& step, ir::Module& module, std::chrono::nanoseconds time);
};

/// Runs one pass with the options of its step; what it requires is the caller's business.
Result<void> runPass(ir::Module& module, const PipelineStep& step, PassContext& context);

/// Runs the passes in order. A repetition ends when a round changed nothing, or with its last
/// round. Stops after a pass that put errors into the diagnostics (look there). Fails before
/// anything runs when a pass would lack a property that it requires, and with what a pass or
/// an instrument fails with.
Result<void> runPipeline(ir::Module& module, const Pipeline& pipeline, PassContext& context,
                         std::span<Instrument* const> instruments = {});

}  // namespace baton::passes

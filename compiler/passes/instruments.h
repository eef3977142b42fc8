// Those who look on while passes run: timer, printer, verifier.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/passes/pass_manager.h"

namespace baton::passes {

/// Measures each step of a pipeline, over all rounds of what repeats it.
class PassTimer final : public Instrument {
 public:
  Result<void> after(const PipelineStep& step, ir::Module& module, std::chrono::nanoseconds time) override;
  /// The tree of the pipeline that ran, a line a step: milliseconds, share, runs, name.
  std::string report(const Pipeline& pipeline) const;

 private:
  struct Row {
    std::chrono::nanoseconds time{0};
    uint32_t runs = 0;
  };
  Row sumOf(const PipelineStep& step) const;
  std::unordered_map<const PipelineStep*, Row> rows_;  // looked up only
};

/// Hands the module to a printer before or after the passes that were named ("all": every one).
class PassPrinter final : public Instrument {
 public:
  struct Choice {
    std::vector<std::string> before;
    std::vector<std::string> after;
    /// After every pass that changed what is printed, whatever the others say.
    bool changed = false;
  };
  using Print = std::function<std::string(const ir::Module& module)>;
  /// Gets "before flatten-matches" or "after flatten-matches" and what was printed.
  using Sink = std::function<void(const std::string& heading, const std::string& text)>;
  PassPrinter(Choice choice, Print print, Sink sink)
      : choice_(std::move(choice)), print_(std::move(print)), sink_(std::move(sink)) {}
  Result<void> before(const PipelineStep& step, const ir::Module& module) override;
  Result<void> after(const PipelineStep& step, ir::Module& module, std::chrono::nanoseconds time) override;

 private:
  Choice choice_;
  Print print_;
  Sink sink_;
  std::string last_;  ///< with `changed`: the module before the pass that runs
};

/// Runs a verifier after each pass; what it finds names the pass.
class PassVerifier final : public Instrument {
 public:
  using Verify = std::function<Result<void>(ir::Module&)>;
  explicit PassVerifier(Verify verify) : verify_(std::move(verify)) {}
  Result<void> after(const PipelineStep& step, ir::Module& module, std::chrono::nanoseconds time) override;

 private:
  Verify verify_;
};

/// One line an event: how often, the pass, what. Sorted by pass.
std::string report(const PassCounters& counters);

}  // namespace baton::passes

// The list of all passes, the pipelines of the -O levels, and the function that runs one,
// with whoever wants to look on: timers, dumps, the verifier.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/passes/pass.h"

namespace baton::passes {

/// Every pass, mandatory ones first, then by level and name.
std::span<const PassInfo> allPasses();
/// Null when there is none of that name.
const PassInfo* findPass(std::string_view name);

using Pipeline = std::vector<const PassInfo*>;
/// What -O`level` runs, in order; a pass may come more than once. Levels are 0 to 3.
Pipeline pipelineOf(int level);
/// Leaves out passes by name. An error for an unknown name, and for a mandatory pass.
Result<void> disablePasses(Pipeline& pipeline, std::span<const std::string> names);
/// A pipeline from names, as `vm-opt --passes` takes them.
Result<Pipeline> pipelineFromNames(std::span<const std::string> names);

/// Looks on while a pipeline runs. An error ends the run.
class Instrument {
 public:
  virtual ~Instrument() = default;
  virtual Result<void> before(const PassInfo& pass, const ir::Module& module);
  virtual Result<void> after(const PassInfo& pass, ir::Module& module, std::chrono::nanoseconds time);
};

/// Sums the time of each pass.
class PassTimer final : public Instrument {
 public:
  Result<void> after(const PassInfo& pass, ir::Module& module, std::chrono::nanoseconds time) override;
  /// One line a pass, in the order of their first runs: milliseconds, share, runs, name.
  std::string report() const;

 private:
  struct Row {
    const PassInfo* pass;
    std::chrono::nanoseconds time{0};
    uint32_t runs = 0;
  };
  std::vector<Row> rows_;
};

/// Hands the module to a printer before or after the passes that were named ("all": every one).
class PassPrinter final : public Instrument {
 public:
  /// Gets "before flatten-matches" or "after flatten-matches" and the module.
  using Sink = std::function<void(const std::string& heading, const ir::Module& module)>;
  PassPrinter(std::vector<std::string> before, std::vector<std::string> after, Sink sink)
      : before_(std::move(before)), after_(std::move(after)), sink_(std::move(sink)) {}
  Result<void> before(const PassInfo& pass, const ir::Module& module) override;
  Result<void> after(const PassInfo& pass, ir::Module& module, std::chrono::nanoseconds time) override;

 private:
  std::vector<std::string> before_;
  std::vector<std::string> after_;
  Sink sink_;
};

/// Runs a verifier after each pass; what it finds names the pass.
class PassVerifier final : public Instrument {
 public:
  using Verify = std::function<Result<void>(ir::Module&)>;
  explicit PassVerifier(Verify verify) : verify_(std::move(verify)) {}
  Result<void> after(const PassInfo& pass, ir::Module& module, std::chrono::nanoseconds time) override;

 private:
  Verify verify_;
};

/// Runs the passes in order. Stops after a pass that put errors into the diagnostics (look
/// there). Fails when a pass lacks a property that it requires, and with what a pass or an
/// instrument fails with.
Result<void> runPipeline(ir::Module& module, const Pipeline& pipeline, PassContext& context,
                         std::span<Instrument* const> instruments = {});

}  // namespace baton::passes

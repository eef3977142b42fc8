#include "compiler/passes/pass_manager.h"

#include <algorithm>

#include <fmt/format.h>

namespace baton::passes {
namespace {

bool names(const std::vector<std::string>& list, const PassInfo& pass) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& name) { return name == "all" || name == pass.name; });
}

}  // namespace

const PassInfo* findPass(std::string_view name) {
  for (const PassInfo& pass : allPasses())
    if (pass.name == name) return &pass;
  return nullptr;
}

Result<void> disablePasses(Pipeline& pipeline, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const PassInfo* pass = findPass(name);
    if (pass == nullptr) return Error(ErrorCode::InvalidArgument, fmt::format("no pass named '{}'", name));
    if (pass->isMandatory())
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("pass '{}' is mandatory: lowering needs it", name));
    std::erase(pipeline, pass);
  }
  return success();
}

Result<Pipeline> pipelineFromNames(std::span<const std::string> names) {
  Pipeline pipeline;
  for (const std::string& name : names) {
    const PassInfo* pass = findPass(name);
    if (pass == nullptr) return Error(ErrorCode::InvalidArgument, fmt::format("no pass named '{}'", name));
    pipeline.push_back(pass);
  }
  return pipeline;
}

Result<void> Instrument::before(const PassInfo&, const ir::Module&) { return success(); }
Result<void> Instrument::after(const PassInfo&, ir::Module&, std::chrono::nanoseconds) { return success(); }

Result<void> PassTimer::after(const PassInfo& pass, ir::Module&, std::chrono::nanoseconds time) {
  auto at = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.pass == &pass; });
  if (at == rows_.end()) at = rows_.insert(rows_.end(), Row{&pass});
  at->time += time;
  ++at->runs;
  return success();
}

std::string PassTimer::report() const {
  std::chrono::nanoseconds total{0};
  for (const Row& row : rows_) total += row.time;
  auto milliseconds = [](std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; };
  std::string text = fmt::format("{:>10.3f} ms 100.0 %        passes\n", milliseconds(total));
  for (const Row& row : rows_)
    text += fmt::format("{:>10.3f} ms {:>5.1f} % {:>4} x {}\n", milliseconds(row.time),
                        total.count() == 0 ? 0.0 : 100.0 * milliseconds(row.time) / milliseconds(total),
                        row.runs, row.pass->name);
  return text;
}

Result<void> PassPrinter::before(const PassInfo& pass, const ir::Module& module) {
  if (names(before_, pass)) sink_(fmt::format("before {}", pass.name), module);
  return success();
}

Result<void> PassPrinter::after(const PassInfo& pass, ir::Module& module, std::chrono::nanoseconds) {
  if (names(after_, pass)) sink_(fmt::format("after {}", pass.name), module);
  return success();
}

Result<void> PassVerifier::after(const PassInfo& pass, ir::Module& module, std::chrono::nanoseconds) {
  Result<void> result = verify_(module);
  if (!result.has_value()) {
    Error error = std::move(result).assume_error();
    return std::move(error).withContext(fmt::format("after pass {}", pass.name));
  }
  return success();
}

Result<void> runPipeline(ir::Module& module, const Pipeline& pipeline, PassContext& context,
                         std::span<Instrument* const> instruments) {
  Property properties = Property::None;
  for (const PassInfo* pass : pipeline) {
    if (!includes(properties, pass->requires_))
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("pass '{}' needs passes before it that have not run: see its requirements",
                               pass->name));
    for (Instrument* instrument : instruments) BATON_TRY(instrument->before(*pass, module));
    const auto start = std::chrono::steady_clock::now();
    BATON_TRY(pass->run(module, context));
    const auto time = std::chrono::steady_clock::now() - start;
    properties = (properties & pass->preserves) | pass->establishes;
    if (context.diagnostics.hasErrors()) return success();
    for (Instrument* instrument : instruments) BATON_TRY(instrument->after(*pass, module, time));
  }
  return success();
}

}  // namespace baton::passes

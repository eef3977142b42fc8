#include "compiler/passes/instruments.h"

#include <algorithm>

#include <fmt/format.h>

namespace baton::passes {
namespace {

bool isNamed(const std::vector<std::string>& list, const PassInfo& pass) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& name) { return name == "all" || name == pass.name; });
}

double milliseconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

}  // namespace

Result<void> PassTimer::after(const PipelineStep& step, ir::Module&, std::chrono::nanoseconds time) {
  Row& row = rows_[&step];
  row.time += time;
  ++row.runs;
  return success();
}

PassTimer::Row PassTimer::sumOf(const PipelineStep& step) const {
  if (step.pass != nullptr) {
    auto at = rows_.find(&step);
    return at == rows_.end() ? Row{} : at->second;
  }
  Row sum;
  for (const PipelineStep& inner : step.body) {
    const Row row = sumOf(inner);  // the nesting has a limit
    sum.time += row.time;
    sum.runs = std::max(sum.runs, row.runs);
  }
  return sum;
}

std::string PassTimer::report(const Pipeline& pipeline) const {
  std::chrono::nanoseconds total{0};
  for (const PipelineStep& step : pipeline) total += sumOf(step).time;
  std::string text = fmt::format("{:>10.3f} ms 100.0 %        passes\n", milliseconds(total));
  struct Visit {
    const Pipeline* steps;
    size_t next = 0;
  };
  std::vector<Visit> stack{{&pipeline}};
  while (!stack.empty()) {
    Visit& visit = stack.back();
    if (visit.next == visit.steps->size()) {
      stack.pop_back();
      continue;
    }
    const PipelineStep& step = (*visit.steps)[visit.next++];
    const Row row = sumOf(step);
    text += fmt::format("{:>10.3f} ms {:>5.1f} % {:>4} x {}{}\n", milliseconds(row.time),
                        total.count() == 0 ? 0.0 : 100.0 * milliseconds(row.time) / milliseconds(total),
                        row.runs, std::string(2 * (stack.size() - 1), ' '),
                        step.pass == nullptr ? "repeat" : step.pass->name);
    if (step.pass == nullptr) stack.push_back({&step.body});
  }
  return text;
}

Result<void> PassPrinter::before(const PipelineStep& step, const ir::Module& module) {
  if (choice_.changed) last_ = print_(module);
  if (isNamed(choice_.before, *step.pass)) sink_(fmt::format("before {}", step.pass->name), print_(module));
  return success();
}

Result<void> PassPrinter::after(const PipelineStep& step, ir::Module& module, std::chrono::nanoseconds) {
  const bool isChosen = isNamed(choice_.after, *step.pass);
  if (!isChosen && !choice_.changed) return success();
  const std::string now = print_(module);
  if (isChosen || now != last_) sink_(fmt::format("after {}", step.pass->name), now);
  return success();
}

Result<void> PassVerifier::after(const PipelineStep& step, ir::Module& module, std::chrono::nanoseconds) {
  Result<void> result = verify_(module);
  if (!result.has_value()) {
    Error error = std::move(result).assume_error();
    return std::move(error).withContext(fmt::format("after pass {}", step.pass->name));
  }
  return success();
}

std::string report(const PassCounters& counters) {
  std::string text;
  for (const auto& [key, times] : counters)
    text += fmt::format("{:>10} {}: {}\n", times, key.first, key.second);
  return text;
}

}  // namespace baton::passes

#include "compiler/passes/pipeline.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "compiler/frontend/suggest.h"
#include "compiler/passes/registry.h"

namespace baton::passes {

bool operator==(const PipelineStep& a, const PipelineStep& b) {
  return a.pass == b.pass && a.options == b.options && a.maxRounds == b.maxRounds && a.body == b.body;
}

PipelineStep stepOf(const PassInfo& pass) {
  PipelineStep step{.pass = &pass};
  for (const PassOption& option : pass.options) step.options.push_back(option.defaultValue);
  return step;
}

Error noPassNamed(std::string_view name) {
  frontend::NearestName nearest(name);
  for (const PassInfo* each : allPasses()) nearest.consider(each->name);
  return Error(ErrorCode::InvalidArgument, fmt::format("no pass named '{}'{}", name, nearest.text()));
}

Result<void> disablePasses(Pipeline& pipeline, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const PassInfo* pass = findPass(name);
    if (pass == nullptr) return noPassNamed(name);
    if (pass->isMandatory())
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("pass '{}' is mandatory: lowering needs it", name));
    std::vector<Pipeline*> work{&pipeline};
    while (!work.empty()) {
      Pipeline& steps = *work.back();
      work.pop_back();
      std::erase_if(steps, [&](const PipelineStep& step) { return step.pass == pass; });
      for (PipelineStep& step : steps)
        if (step.pass == nullptr) work.push_back(&step.body);
    }
  }
  return success();
}

std::string describeMissing(Property properties) {
  std::string text;
  for (const PropertyName& each : propertyNames()) {
    if (!includes(properties, each.property)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", each.name);
    for (const PassInfo* pass : allPasses())
      if (includes(pass->establishes, each.property)) {
        text += fmt::format(" ({})", pass->name);
        break;
      }
  }
  return text;
}

Result<Property> propertiesAfter(const Pipeline& pipeline, Property before) {
  // The nesting of a pipeline has a limit.
  Property properties = before;
  for (const PipelineStep& step : pipeline) {
    if (step.pass == nullptr) {
      BATON_TRY_ASSIGN(const Property once, propertiesAfter(step.body, properties));
      if (step.maxRounds > 1) {
        BATON_TRY_ASSIGN(properties, propertiesAfter(step.body, once));
      } else {
        properties = once;
      }
      continue;
    }
    const Property missing = without(step.pass->requires_, properties);
    if (missing != Property::None)
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("pass '{}' needs {} before it", step.pass->name, describeMissing(missing)));
    properties = (properties & step.pass->preserves) | step.pass->establishes;
  }
  return properties;
}

}  // namespace baton::passes

#include "compiler/passes/registry.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace baton::passes {

std::span<const PassInfo* const> allPasses() {
  static constexpr const PassInfo* kPasses[] = {
#define BATON_PASS(record) &record,
#include "compiler/passes/passes.def"
#undef BATON_PASS
  };
  return kPasses;
}

const PassInfo* findPass(std::string_view name) {
  for (const PassInfo* pass : allPasses())
    if (pass->name == name) return pass;
  return nullptr;
}

std::span<const PropertyName> propertyNames() {
  static constexpr std::array kNames = {
      PropertyName{Property::Legal, "legal operators", "no operator is left that is written with others"},
      PropertyName{
          Property::FlatMatches, "flat matches",
          "every clause of a match is a constructor over variables and wildcards, or one last wildcard"},
      PropertyName{Property::Joins, "joins",
                   "local functions that are only tail-called are joins, and self tail calls are loops"},
      PropertyName{Property::Lifted, "lifted functions", "a local function that is left is used as a value"},
      PropertyName{Property::Fused, "fusion groups",
                   "operators that make one kernel are a function with the attribute `Primitive`"},
  };
  return kNames;
}

std::string describe(Property properties) {
  std::string text;
  for (const PropertyName& each : propertyNames())
    if (includes(properties, each.property)) text += fmt::format("{}{}", text.empty() ? "" : ", ", each.name);
  return text;
}

uint64_t PassContext::option(std::string_view name) const {
  BATON_CHECK(pass != nullptr && options.size() == pass->options.size());
  for (size_t i = 0; i < pass->options.size(); ++i)
    if (pass->options[i].name == name) return options[i];
  BATON_CHECK(!"an option that the record of the pass does not have");
  return 0;
}

void PassContext::count(std::string_view event, uint64_t times) {
  if (counters != nullptr && times != 0) (*counters)[{pass == nullptr ? "" : pass->name, event}] += times;
}

}  // namespace baton::passes

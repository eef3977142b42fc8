// The rules of the verifier, by name.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace baton::bytecode {

enum class Rule : uint8_t {
#define BATON_VERIFIER_RULE(identifier, name, summary) identifier,
#include "bytecode/verifier/rules.inc"
};

struct RuleInfo {
  Rule rule;
  std::string_view name;     ///< "use-after-move"
  std::string_view summary;  ///< what must hold
};

std::span<const RuleInfo> allRules();
std::string_view ruleName(Rule rule);

}  // namespace baton::bytecode

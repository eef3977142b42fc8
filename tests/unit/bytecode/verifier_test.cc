// Every rule of the verifier has a program in tests/verifier/<rule>/ that breaks it and nothing
// else. The first line says what the message must contain.
#include <catch2/catch.hpp>

#include <set>

#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/unit/bytecode/text_file.h"

namespace baton::bytecode {
namespace {

std::string expectationOf(const std::string& text) {
  constexpr std::string_view kPrefix = "// EXPECT: ";
  if (!text.starts_with(kPrefix)) return "";
  return text.substr(kPrefix.size(), text.find('\n') - kPrefix.size());
}

TEST_CASE("programs that break a rule are refused by that rule, with its message") {
  for (const auto& path : filesUnder(BATON_VERIFIER_DIR, ".vmasm")) {
    INFO(path);
    const std::string text = readText(path);
    const std::string expected = expectationOf(text);
    REQUIRE(!expected.empty());
    auto program = parseVmasm(text);
    if (!program.has_value()) FAIL(program.error().message());
    const std::vector<Violation> violations = findViolations(program.value());
    CHECK(!violations.empty());
    bool isFound = false;
    for (const Violation& violation : violations) {
      INFO(describeViolation(program.value(), violation));
      CHECK(ruleName(violation.rule) == path.parent_path().filename().string());
      isFound |= violation.message.find(expected) != std::string::npos;
      if (violation.message.find(expected) == std::string::npos) CHECK(violation.message == expected);
    }
    CHECK(isFound);
    const auto refused = verify(program.value());
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code() == ErrorCode::VerifyFailed);
  }
}

TEST_CASE("every rule has a program that breaks it") {
  std::set<std::string> proven;
  for (const auto& path : filesUnder(BATON_VERIFIER_DIR, ".vmasm"))
    proven.insert(path.parent_path().filename().string());
  for (const RuleInfo& rule : allRules()) {
    INFO("no program in tests/verifier breaks " << rule.name);
    CHECK(proven.contains(std::string(rule.name)));
    proven.erase(std::string(rule.name));
  }
  for (const std::string& name : proven) FAIL_CHECK("tests/verifier/" << name << " is no rule");
}

}  // namespace
}  // namespace baton::bytecode

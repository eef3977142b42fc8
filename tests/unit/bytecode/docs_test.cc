// The examples of docs/vmasm.md are programs.
#include <catch2/catch.hpp>

#include "bytecode/verifier/verifier.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/printer.h"
#include "tests/unit/bytecode/text_file.h"

namespace baton::bytecode {
namespace {

/// Contents of the blocks that are fenced as vmasm.
std::vector<std::string> examplesIn(const std::string& text) {
  std::vector<std::string> examples;
  constexpr std::string_view kBegin = "```vmasm\n";
  for (size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    examples.push_back(text.substr(at, text.find("```", at) - at));
  }
  return examples;
}

TEST_CASE("examples in the description of the text parse, keep the rules and round-trip") {
  const std::vector<std::string> examples = examplesIn(readText(BATON_DOCS_DIR "/vmasm.md"));
  REQUIRE(examples.size() == 4);
  for (size_t i = 0; i < examples.size(); ++i) {
    INFO(examples[i]);
    auto program = parseVmasm(examples[i]);
    if (!program.has_value()) FAIL(program.error().message());
    for (const Violation& violation : findViolations(program.value()))
      FAIL_CHECK(describeViolation(program.value(), violation));
    const std::string printed = printVmasm(program.value()).value();
    CHECK(printVmasm(parseVmasm(printed).value()).value() == printed);
  }
}

}  // namespace
}  // namespace baton::bytecode

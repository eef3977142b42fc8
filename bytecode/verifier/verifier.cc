#include "bytecode/verifier/verifier.h"

#include <fmt/format.h>

#include "bytecode/verifier/flow.h"
#include "bytecode/verifier/reporter.h"
#include "bytecode/verifier/shared_tables.h"
#include "bytecode/verifier/structure.h"
#include "bytecode/verifier/tables.h"
#include "bytecode/vmasm/printer.h"

namespace baton::bytecode {

namespace {

constexpr RuleInfo kRules[] = {
#define BATON_VERIFIER_RULE(identifier, name, summary) {Rule::identifier, name, summary},
#include "bytecode/verifier/rules.inc"
};

}  // namespace

std::span<const RuleInfo> allRules() { return kRules; }

std::string_view ruleName(Rule rule) { return kRules[static_cast<size_t>(rule)].name; }

std::vector<Violation> findViolations(const Program& program, size_t limit) {
  Reporter reporter(limit);
  checkTables(program, reporter);
  if (reporter.count() > 0) return reporter.take();
  SharedTables tables(program);
  for (uint32_t i = 0; i < program.functions.size() && !reporter.isFull(); ++i) {
    const FunctionStructure structure = checkStructure(program, FunctionIndex(i), reporter);
    if (!structure.blocks.empty()) checkFlow(program, FunctionIndex(i), structure, tables, reporter);
  }
  return reporter.take();
}

std::vector<std::string> describeViolations(const Program& program,
                                            const std::vector<Violation>& violations) {
  const InstructionPrinter printer(program);
  std::vector<std::string> texts;
  for (const Violation& violation : violations) {
    std::string& text =
        texts.emplace_back(fmt::format("{}: {}", ruleName(violation.rule), violation.message));
    if (!violation.function) continue;
    text += fmt::format(", in @{}", program.functions[violation.function->value()].name);
    if (violation.pc)
      text +=
          fmt::format(" at word {}: `{}`", *violation.pc, printer.print(*violation.function, *violation.pc));
  }
  return texts;
}

std::string describeViolation(const Program& program, const Violation& violation) {
  return describeViolations(program, {violation})[0];
}

Result<void> verify(const Program& program) {
  const std::vector<Violation> violations = findViolations(program, 1);
  if (violations.empty()) return success();
  return Error(ErrorCode::VerifyFailed, describeViolation(program, violations[0]));
}

}  // namespace baton::bytecode

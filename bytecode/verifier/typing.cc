#include "bytecode/verifier/typing.h"

#include <fmt/format.h>

#include "bytecode/vmasm/printer.h"

namespace baton::bytecode {

namespace {

// The descriptors again, because here they are needed in constant expressions.
#include "bytecode/isa/generated/descs.inc"

consteval bool hasVerifyHook(Opcode opcode) {
  for (const InstructionDesc& desc : kInstructionDescs)
    if (desc.opcode == opcode) return desc.hasVerifyHook;
  return false;
}

template <class Operand>
constexpr bool kIsScalar = std::is_same_v<Operand, ScalarOperand>;
template <class Operand>
constexpr char kBankLetter = kIsScalar<Operand> ? 's' : 'r';

}  // namespace

void verifyKinds(const InstructionDesc& desc, InstructionView view, Typing& typing) {
  switch (desc.opcode) {
#define BATON_INSTRUCTION(name, number)                                               \
  case Opcode::name:                                                                  \
    if constexpr (hasVerifyHook(Opcode::name)) verifyInstruction(name{view}, typing); \
    break;
#include "bytecode/isa/generated/opcodes.inc"
  }
}

std::string Typing::text(const Kind& kind) const { return printKind(program, kind); }

std::optional<Kind> Typing::expect(ReferenceOperand operand, KindTagValue tag, const char* what) {
  std::optional<Kind> kind = kindOf(operand);
  if (!kind || kind->tag == tag) return kind;
  fail(Rule::OperandKindRule,
       [&] { return fmt::format("r{} is {}: expected {}", operand.index(), text(*kind), what); });
  return std::nullopt;
}

template <class Operand>
bool Typing::check(Rule rule, const Kind& expected, Operand operand, const std::string& what) {
  const std::optional<Kind> found = kindOf(operand);
  if (!found || isAssignable(*found, expected)) return true;
  fail(rule, [&] {
    return fmt::format("{} {}{} is {}: expected {}", what, kBankLetter<Operand>, operand.index(),
                       text(*found), text(expected));
  });
  return false;
}
template bool Typing::check(Rule, const Kind&, ScalarOperand, const std::string&);
template bool Typing::check(Rule, const Kind&, ReferenceOperand, const std::string&);

template <class Operand>
void Typing::checkList(Rule rule, const std::vector<Kind>& expected, OperandList<Operand> found,
                       const char* what) {
  if (expected.size() != found.size())
    return fail(rule, [&] {
      return fmt::format("{} {}s of bank {}: expected {}", found.size(), what, kBankLetter<Operand>,
                         expected.size());
    });
  for (uint32_t i = 0; i < found.size(); ++i) check(rule, expected[i], found[i], what);
}
template void Typing::checkList(Rule, const std::vector<Kind>&, OperandList<ScalarOperand>, const char*);
template void Typing::checkList(Rule, const std::vector<Kind>&, OperandList<ReferenceOperand>, const char*);

template <class Operand>
void Typing::defineList(Rule rule, const std::vector<Kind>& kinds, OperandList<Operand> results) {
  if (kinds.size() != results.size())
    return fail(rule, [&] {
      return fmt::format("{} results of bank {}: expected {}", results.size(), kBankLetter<Operand>,
                         kinds.size());
    });
  for (uint32_t i = 0; i < results.size(); ++i) define(results[i], kinds[i]);
}
template void Typing::defineList(Rule, const std::vector<Kind>&, OperandList<ScalarOperand>);
template void Typing::defineList(Rule, const std::vector<Kind>&, OperandList<ReferenceOperand>);

}  // namespace baton::bytecode

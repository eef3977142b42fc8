#include "bytecode/verifier/operand_rules.h"

#include "base/error.h"

namespace baton::bytecode {

namespace {

OperandRule ruleOf(const OperandDesc& operand) {
  using enum KindTagValue;
  if (operand.of == "any") return {};
  for (const auto& [name, tag] : {std::pair{"tensor", Tensor},
                                  {"adt", Adt},
                                  {"closure", Closure},
                                  {"cell", Cell},
                                  {"array", Array},
                                  {"storage", Storage}})
    if (operand.of == name) return {OperandRule::Want::Reference, DType::Bool, tag};
  const auto dtype = parseDType(operand.of);
  BATON_CHECK(dtype.has_value());
  return {OperandRule::Want::Scalar, *dtype, Scalar};
}

std::vector<std::vector<OperandRule>> makeTable() {
  std::vector<std::vector<OperandRule>> table;
  for (const InstructionDesc& desc : allInstructionDescs()) {
    auto& rules = table.emplace_back();
    for (const OperandDesc& operand : desc.operands) rules.push_back(ruleOf(operand));
  }
  return table;
}

}  // namespace

const std::vector<OperandRule>& operandRulesOf(const InstructionDesc& desc) {
  static const std::vector<std::vector<OperandRule>> kTable = makeTable();
  return kTable[static_cast<size_t>(&desc - allInstructionDescs().data())];
}

}  // namespace baton::bytecode

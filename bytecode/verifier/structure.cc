#include "bytecode/verifier/structure.h"

#include <algorithm>

#include <fmt/format.h>

#include "bytecode/vmasm/printer_impl.h"

namespace baton::bytecode {

namespace {

class StructureCheck {
 public:
  StructureCheck(const Program& program, FunctionIndex index, Reporter& reporter)
      : program_(program),
        index_(index),
        function_(program.functions[index.value()]),
        code_(std::span(program.code).subspan(function_.codeOffset, function_.codeSize)),
        reporter_(reporter) {}

  FunctionStructure run() {
    const size_t before = reporter_.count();
    if (code_.empty()) fail(Rule::BlockEnd, 0, "the function has no code");
    starts_.assign(code_.size(), false);
    leaders_.assign(code_.size(), false);
    decode();
    if (reporter_.count() == before) checkTargets();
    if (reporter_.count() != before) return {};
    return {cutBlocks()};
  }

 private:
  void fail(Rule rule, uint32_t pc, std::string message) {
    reporter_.report(rule, std::move(message), index_, pc);
  }

  void decode() {
    bool isAfterTerminator = true;  // the entry is a leader too
    for (uint32_t pc = 0; pc < code_.size();) {
      const auto words = instructionWordCount(code_.subspan(pc));
      const InstructionView view{code_.data() + pc};
      const InstructionDesc* desc = findInstructionDesc(view.unit16(0));
      if (!desc) return fail(Rule::Instruction, pc, fmt::format("{:#06x} is no instruction", view.unit16(0)));
      if (!words)
        return fail(
            Rule::Instruction, pc,
            fmt::format("{} is cut: {} words are left in the function", desc->mnemonic, code_.size() - pc));
      starts_[pc] = true;
      leaders_[pc] = isAfterTerminator;
      if (!isCanonicalEncoding(*desc, code_.subspan(pc, *words)))
        fail(Rule::Padding, pc,
             fmt::format("bits of {} that no operand covers are not zero", desc->mnemonic));
      checkOperands(*desc, view, pc);
      if (reporter_.isFull()) return;
      isAfterTerminator = desc->isTerminator();
      last_ = pc;
      pc += *words;
    }
    if (!isAfterTerminator)
      fail(Rule::BlockEnd, last_, "the last instruction of the function does not end its block");
  }

  void checkOperands(const InstructionDesc& desc, InstructionView view, uint32_t pc) {
    forEachOperand(desc, view, [&](const OperandDesc& operand, uint32_t unit, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i)
        checkOperand(operand, view, unit + i * elementUnits(operand.kind), pc);
    });
  }

  void checkOperand(const OperandDesc& operand, InstructionView view, uint32_t unit, uint32_t pc) {
    switch (operand.kind) {
      case OperandKind::SUse:
      case OperandKind::SUseList: return checkRegister('s', view.unit16(unit), false, pc);
      case OperandKind::SDef:
      case OperandKind::SDefList: return checkRegister('s', view.unit16(unit), true, pc);
      case OperandKind::RUse:
      case OperandKind::ROwn:
      case OperandKind::RUseList:
      case OperandKind::ROwnList: return checkRegister('r', view.unit16(unit), false, pc);
      case OperandKind::RDef:
      case OperandKind::RDefList: return checkRegister('r', view.unit16(unit), true, pc);
      case OperandKind::DTypeImm:
        if (view.unit16(unit) >= kDTypeCount)
          fail(Rule::OperandDType, pc,
               fmt::format("{} is no dtype: there are {}", view.unit16(unit), kDTypeCount));
        return;
      case OperandKind::FunctionRef:
        return checkIndex("function", view.unit32(unit), program_.functions.size(), pc);
      case OperandKind::KernelRef:
        return checkIndex("kernel", view.unit32(unit), program_.kernels.size(), pc);
      case OperandKind::ConstantRef:
        return checkIndex("constant", view.unit32(unit), program_.constants.size(), pc);
      case OperandKind::TypeRef: return checkIndex("type", view.unit32(unit), program_.types.size(), pc);
      case OperandKind::KindRef: return checkIndex("kind", view.unit32(unit), program_.kinds.size(), pc);
      case OperandKind::MessageRef:
        return checkIndex("message", view.unit32(unit), program_.messages.size(), pc);
      case OperandKind::Target:
      case OperandKind::TargetList: targets_.push_back({pc, view.unit32(unit)}); return;
      case OperandKind::SmallImm:
      case OperandKind::Imm64: return;
    }
  }

  void checkRegister(char bank, uint16_t raw, bool isResult, uint32_t pc) {
    const uint32_t count = bank == 's' ? function_.scalarRegisterCount : function_.referenceRegisterCount;
    const uint32_t number = raw & 0x7fff;
    if (number >= count)
      fail(Rule::RegisterIndex, pc,
           fmt::format("register {}{} out of range: function has {}", bank, number, count));
    if (isResult && raw & 0x8000)
      fail(Rule::LastUse, pc, fmt::format("result {}{} is marked as a last use", bank, number));
  }

  void checkIndex(const char* what, uint32_t index, size_t count, uint32_t pc) {
    if (index >= count)
      fail(Rule::OperandIndex, pc, fmt::format("{} {} out of range: there are {}", what, index, count));
  }

  void checkTargets() {
    for (const auto& [pc, target] : targets_) {
      if (target < code_.size() && starts_[target])
        leaders_[target] = true;
      else
        fail(Rule::BranchTarget, pc,
             target < code_.size()
                 ? fmt::format("target {} is inside an instruction", target)
                 : fmt::format("target {} out of range: the function has {} words", target, code_.size()));
    }
  }

  std::vector<CodeBlock> cutBlocks() const {
    std::vector<CodeBlock> blocks;
    std::vector<uint32_t> blockAt(code_.size(), 0);
    for (uint32_t pc = 0; pc < code_.size(); ++pc)
      if (leaders_[pc]) {
        if (!blocks.empty()) blocks.back().end = pc;
        blockAt[pc] = static_cast<uint32_t>(blocks.size());
        blocks.push_back({pc, static_cast<uint32_t>(code_.size()), {}});
      }
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      uint32_t pc = blocks[b].begin;
      uint32_t last = pc;
      for (; pc < blocks[b].end; pc += *instructionWordCount(code_.subspan(pc))) last = pc;
      const InstructionView view{code_.data() + last};
      const InstructionDesc& desc = *findInstructionDesc(view.unit16(0));
      std::vector<uint32_t>& successors = blocks[b].successors;
      if (!desc.isTerminator()) successors.push_back(b + 1);
      forEachOperand(desc, view, [&](const OperandDesc& operand, uint32_t unit, uint32_t count) {
        if (operand.kind != OperandKind::Target && operand.kind != OperandKind::TargetList) return;
        for (uint32_t i = 0; i < count; ++i) successors.push_back(blockAt[view.unit32(unit + 2 * i)]);
      });
      std::sort(successors.begin(), successors.end());
      successors.erase(std::unique(successors.begin(), successors.end()), successors.end());
    }
    return blocks;
  }

  const Program& program_;
  FunctionIndex index_;
  const Function& function_;
  std::span<const uint64_t> code_;
  Reporter& reporter_;
  std::vector<bool> starts_, leaders_;
  std::vector<std::pair<uint32_t, uint32_t>> targets_;  // pc, target
  uint32_t last_ = 0;
};

}  // namespace

FunctionStructure checkStructure(const Program& program, FunctionIndex index, Reporter& reporter) {
  return StructureCheck(program, index, reporter).run();
}

}  // namespace baton::bytecode

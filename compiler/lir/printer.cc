#include "compiler/lir/printer.h"

#include <iterator>

#include <fmt/format.h>

#include "compiler/lir/operands.h"

namespace baton::lir {

std::string print(const Kind& kind) {
  const std::string_view dtype = dtypeShortName(kind.dtype);
  switch (kind.tag) {
    case bytecode::KindTagValue::Scalar: return std::string(dtype);
    case bytecode::KindTagValue::Tensor:
      return kind.device == 0 ? fmt::format("tensor<{},{}>", dtype, kind.rank)
                              : fmt::format("tensor<{},{},{}>", dtype, kind.rank, kind.device);
    case bytecode::KindTagValue::Adt: return fmt::format("adt<{}>", kind.index);
    case bytecode::KindTagValue::Closure:
      return kind.function ? fmt::format("closure<{},{}>", kind.index, kind.function->value())
                           : fmt::format("closure<{}>", kind.index);
    case bytecode::KindTagValue::Cell: return fmt::format("cell<{}>", kind.index);
    case bytecode::KindTagValue::Array: return fmt::format("array<{}>", kind.index);
    case bytecode::KindTagValue::Storage:
      return kind.device == 0 ? "storage" : fmt::format("storage<{}>", kind.device);
  }
  return {};
}

namespace {

class Printer {
 public:
  Printer(const Module& module, const Function& function, std::string& out)
      : module_(module), function_(function), out_(out) {}

  void printFunction() {
    append("func @{} signature<{}>", function_.name, function_.signature.value());
    if (function_.isAllocated)
      append(" registers({}, {})", function_.registerCount[0], function_.registerCount[1]);
    if (function_.isClosure) {
      append(" closure(");
      for (size_t i = 0; i < function_.captures.size(); ++i)
        append("{}{}", i == 0 ? "" : ", ", print(function_.captures[i]));
      append(")");
    }
    append(" {{\n");
    for (size_t i = 0; i < function_.blocks.size(); ++i) printBlock(i);
    append("}}\n");
  }

 private:
  template <class... Args>
  void append(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void printBlock(size_t index) {
    const Block& block = function_.blocks[index];
    append("b{}", index);
    if (!block.params.empty()) {
      append("(");
      for (size_t i = 0; i < block.params.size(); ++i) {
        if (i != 0) append(", ");
        printDef(block.params[i]);
      }
      append(")");
    }
    append(":\n");
    for (const Instruction& instruction : block.instructions) printInstruction(instruction);
  }

  void printRegister(Register reg) {
    if (function_.isAllocated)
      append("{}{}", function_.bankOf(reg) == Bank::Scalar ? 's' : 'r', function_.assignment[reg.value()]);
    else
      append("%{}", reg.value());
  }

  void printDef(Register reg) {
    printRegister(reg);
    append(": {}", print(function_.kindOf(reg)));
  }

  void printUse(uint64_t slot) {
    const RegisterOperand operand = RegisterOperand::fromSlot(slot);
    printRegister(operand.reg);
    if (operand.isLastUse) append("!");
  }

  void printFixed(uint64_t value, OperandKind kind) {
    switch (kind) {
      case OperandKind::SUse:
      case OperandKind::RUse:
      case OperandKind::ROwn: printUse(value); break;
      case OperandKind::DTypeImm: append("{}", dtypeShortName(static_cast<DType>(value))); break;
      case OperandKind::SmallImm: append("{}", value); break;
      case OperandKind::FunctionRef:
        if (value < module_.functions.size())
          append("@{}", module_.functions[value].name);
        else
          append("function<{}>", value);
        break;
      case OperandKind::KernelRef: append("kernel<{}>", value); break;
      case OperandKind::ConstantRef: append("constant<{}>", value); break;
      case OperandKind::TypeRef: append("type<{}>", value); break;
      case OperandKind::KindRef: append("kind<{}>", value); break;
      case OperandKind::MessageRef: append("message<{}>", value); break;
      case OperandKind::Target: append("b{}", value); break;
      case OperandKind::Imm64: append("0x{:x}", value); break;
      case OperandKind::SDef:
      case OperandKind::RDef:
      case OperandKind::SUseList:
      case OperandKind::SDefList:
      case OperandKind::RUseList:
      case OperandKind::ROwnList:
      case OperandKind::RDefList:
      case OperandKind::TargetList: break;
    }
  }

  void printList(std::span<const uint64_t> slots, OperandKind kind) {
    out_ += kind == OperandKind::TargetList ? "[" : "(";
    for (size_t i = 0; i < slots.size(); ++i) {
      if (i != 0) append(", ");
      if (kind == OperandKind::TargetList)
        append("b{}", slots[i]);
      else
        printUse(slots[i]);
    }
    out_ += kind == OperandKind::TargetList ? "]" : ")";
  }

  void printInstruction(const Instruction& instruction) {
    const bytecode::InstructionDesc& desc = descOf(instruction);
    append("  ");
    bool isFirst = true;
    forEachDef(function_, instruction, [&](uint64_t slot, OperandKind) {
      if (!isFirst) append(", ");
      isFirst = false;
      printDef(registerOf(slot));
    });
    if (!isFirst) append(" = ");
    append("{}", desc.mnemonic);
    isFirst = true;
    for (size_t i = 0; i < desc.operands.size(); ++i) {
      const OperandKind kind = desc.operands[i].kind;
      if (bytecode::isDef(kind)) continue;
      out_ += isFirst ? " " : ", ";
      isFirst = false;
      if (isList(kind))
        printList(listOperand(function_, instruction, i), kind);
      else
        printFixed(fixedOperand(function_, instruction, i), kind);
    }
    if (instruction.opcode == Opcode::Jump) {
      const std::span<const uint64_t> arguments = listOperand(function_, instruction, 1);
      if (!arguments.empty()) printList(arguments, OperandKind::RUseList);
    }
    if (instruction.location.isKnown() || instruction.name.value() != 0)
      append("  # {}:{}:{} {}",
             instruction.location.file < module_.files.size() ? module_.files[instruction.location.file] : "",
             instruction.location.line, instruction.location.column, module_.names[instruction.name.value()]);
    append("\n");
  }

  const Module& module_;
  const Function& function_;
  std::string& out_;
};

}  // namespace

std::string print(const Module& module, const Function& function) {
  std::string out;
  Printer(module, function, out).printFunction();
  return out;
}

std::string print(const Module& module) {
  std::string out;
  for (const Function& function : module.functions) {
    if (!out.empty()) out += "\n";
    Printer(module, function, out).printFunction();
  }
  return out;
}

}  // namespace baton::lir

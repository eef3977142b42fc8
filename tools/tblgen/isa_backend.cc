// Writes bytecode/isa/generated/* and docs/isa.md from bytecode/isa/isa.td.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TableGen/Error.h>
#include <llvm/TableGen/Record.h>

#include "tools/tblgen/backends.h"

namespace baton::tblgen {

namespace {

using llvm::Record;

struct Operand {
  std::string name;
  std::string kind;  // record name of the OperandKind
  std::string bank;
  std::string of;
  int units;
  bool isList;
  bool isDef;
  bool isOwned;
  int unit;  // where it (or its count) stands in the fixed part
};

struct Instruction {
  std::string name;
  std::string mnemonic;
  std::string summary;
  std::string formula;
  int number;
  int since;
  bool hasVerifyHook;
  std::vector<Operand> operands;
  std::vector<std::string> effects;
  int fixedUnits;
  bool hasLists;
};

/// In order of number; two with one number or one mnemonic are a fatal error.
std::vector<Instruction> readInstructions(llvm::RecordKeeper& records) {
  std::vector<Instruction> instructions;
  std::set<std::string> mnemonics;
  for (const Record* record : records.getAllDerivedDefinitions("Instruction")) {
    Instruction instruction;
    instruction.name = record->getName().str();
    instruction.mnemonic = record->getValueAsString("Mnemonic").str();
    instruction.summary = record->getValueAsString("Summary").str();
    instruction.formula = record->getValueAsString("Formula").str();
    instruction.number = static_cast<int>(record->getValueAsInt("Number"));
    instruction.since = static_cast<int>(record->getValueAsInt("Since"));
    instruction.hasVerifyHook = record->getValueAsBit("HasVerifyHook");
    instruction.hasLists = false;
    int unit = 1;
    for (const Record* operandRecord : record->getValueAsListOfDefs("Operands")) {
      const Record* kind = operandRecord->getValueAsDef("Kind");
      Operand operand;
      operand.name = operandRecord->getValueAsString("Name").str();
      operand.of = operandRecord->getValueAsString("Of").str();
      operand.kind = kind->getName().str();
      operand.bank = kind->getValueAsString("Bank").str();
      operand.units = static_cast<int>(kind->getValueAsInt("Units"));
      operand.isList = kind->getValueAsBit("IsList");
      operand.isDef = kind->getValueAsBit("IsDef");
      operand.isOwned = kind->getValueAsBit("IsOwned");
      const int size = operand.isList ? 1 : operand.units;
      unit = (unit + size - 1) / size * size;
      operand.unit = unit;
      unit += size;
      instruction.hasLists |= operand.isList;
      instruction.operands.push_back(std::move(operand));
    }
    instruction.fixedUnits = unit;
    for (const Record* effect : record->getValueAsListOfDefs("Effects"))
      instruction.effects.push_back(effect->getValueAsString("Name").str());
    if (instruction.number <= 0 || instruction.number > 0x7fff)
      llvm::PrintFatalError(record->getLoc(), "instruction number out of range");
    if (!mnemonics.insert(instruction.mnemonic).second)
      llvm::PrintFatalError(record->getLoc(), "mnemonic used twice: " + instruction.mnemonic);
    instructions.push_back(std::move(instruction));
  }
  std::sort(instructions.begin(), instructions.end(),
            [](const Instruction& a, const Instruction& b) { return a.number < b.number; });
  for (size_t i = 1; i < instructions.size(); ++i)
    if (instructions[i - 1].number == instructions[i].number)
      llvm::PrintFatalError("instructions " + instructions[i - 1].name + " and " + instructions[i].name +
                            " have the same number");
  return instructions;
}

/// C++ type of an operand in views and encoders.
std::string elementType(const Operand& operand) {
  if (operand.bank == "s") return "ScalarOperand";
  if (operand.bank == "r") return "ReferenceOperand";
  if (operand.kind == "DTypeImm") return "DType";
  if (operand.kind == "SmallImm") return "uint16_t";
  if (operand.kind == "Imm64") return "uint64_t";
  if (operand.kind == "FunctionRef") return "FunctionIndex";
  if (operand.kind == "KernelRef") return "KernelIndex";
  if (operand.kind == "ConstantRef") return "ConstantIndex";
  if (operand.kind == "TypeRef") return "TypeIndex";
  if (operand.kind == "KindRef") return "KindIndex";
  if (operand.kind == "MessageRef") return "MessageIndex";
  if (operand.kind == "Target" || operand.kind == "TargetList") return "CodeOffset";
  llvm::PrintFatalError("operand kind without a C++ type: " + operand.kind);
}

std::string parameterType(const Operand& operand) {
  const std::string element = elementType(operand);
  const std::string name = element == "CodeOffset" ? "Label" : element;
  return operand.isList ? "std::span<const " + name + ">" : name;
}

void emitView(const Instruction& instruction, llvm::raw_ostream& os) {
  os << "/// " << instruction.summary << ".\n/// " << instruction.formula << "\n";
  os << "struct " << instruction.name << " : InstructionView {\n";
  os << "  static constexpr Opcode kOpcode = Opcode::" << instruction.name << ";\n";
  if (!instruction.hasLists)
    os << "  static constexpr uint32_t kWordCount = " << (instruction.fixedUnits + 3) / 4 << ";\n"
       << "  uint32_t wordCount() const { return kWordCount; }\n";
  std::string listStart = std::to_string(instruction.fixedUnits) + "u";
  for (const Operand& operand : instruction.operands) {
    const std::string element = elementType(operand);
    if (!operand.isList) {
      os << "  " << element << " " << operand.name << "() const { return " << element << "(unit"
         << 16 * operand.units << "(" << operand.unit << ")); }\n";
      continue;
    }
    if (operand.units == 2) listStart = "alignUnit2(" + listStart + ")";
    os << "  OperandList<" << element << "> " << operand.name << "() const { return {words, " << listStart
       << ", unit16(" << operand.unit << ")}; }\n";
    listStart += " + " + (operand.units == 2 ? std::string("2 * ") : std::string()) + "unit16(" +
                 std::to_string(operand.unit) + ")";
  }
  if (instruction.hasLists) os << "  uint32_t wordCount() const { return (" << listStart << " + 3) / 4; }\n";

  os << "  static void encode(Encoder& encoder";
  for (const Operand& operand : instruction.operands)
    os << ", " << parameterType(operand) << " " << operand.name;
  os << ") {\n    encoder.begin(kOpcode);\n";
  for (const Operand& operand : instruction.operands)
    os << "    encoder." << (operand.isList ? "count" : "fixed") << "(" << operand.name << ");\n";
  for (const Operand& operand : instruction.operands)
    if (operand.isList) os << "    encoder.elements(" << operand.name << ");\n";
  os << "    encoder.end();\n  }\n};\n\n";
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

void emitOpcodes(llvm::RecordKeeper& records, llvm::raw_ostream& os) {
  emitNotice("bytecode/isa/isa.td", os);
  os << "// BATON_INSTRUCTION(name, number)\n";
  for (const Instruction& instruction : readInstructions(records))
    os << "BATON_INSTRUCTION(" << instruction.name << ", " << llvm::format_hex(instruction.number, 5)
       << ")\n";
  os << "#undef BATON_INSTRUCTION\n";
}

void emitInstructionViews(llvm::RecordKeeper& records, llvm::raw_ostream& os) {
  emitNotice("bytecode/isa/isa.td", os);
  for (const Instruction& instruction : readInstructions(records)) emitView(instruction, os);
}

void emitDescriptors(llvm::RecordKeeper& records, llvm::raw_ostream& os) {
  emitNotice("bytecode/isa/isa.td", os);
  const std::vector<Instruction> instructions = readInstructions(records);
  for (const Instruction& instruction : instructions) {
    if (instruction.operands.empty()) continue;
    os << "inline constexpr OperandDesc k" << instruction.name << "Operands[] = {\n";
    for (const Operand& operand : instruction.operands)
      os << "    {" << quoted(operand.name) << ", OperandKind::" << operand.kind << ", " << operand.unit
         << ", " << quoted(operand.of) << "},\n";
    os << "};\n";
  }
  os << "\ninline constexpr InstructionDesc kInstructionDescs[] = {\n";
  for (const Instruction& instruction : instructions) {
    std::string effects;
    for (const std::string& effect : instruction.effects) {
      if (!effects.empty()) effects += " | ";
      effects += "kEffect" + llvm::StringRef(effect).substr(0, 1).upper() + effect.substr(1);
    }
    os << "    {Opcode::" << instruction.name << ", " << quoted(instruction.mnemonic) << ", "
       << (instruction.operands.empty() ? "{}" : "k" + instruction.name + "Operands") << ", "
       << instruction.fixedUnits << ", " << (effects.empty() ? "0" : effects) << ", "
       << (instruction.hasVerifyHook ? "true" : "false") << ", " << instruction.since << "},\n";
  }
  os << "};\n";
}

void emitIsaDocs(llvm::RecordKeeper& records, llvm::raw_ostream& os) {
  os << "# The instruction set\n\n"
        "Generated by `baton-tblgen` from `bytecode/isa/isa.td`. `s` operands are scalars, `r` operands "
        "references; "
        "*owned* operands pass their reference on, all others borrow it. Encoding: 16-bit units in 64-bit "
        "little-endian words, see the head of `isa.td`.\n\n"
        "| number | instruction | operands | what it does | effects |\n|---|---|---|---|---|\n";
  for (const Instruction& instruction : readInstructions(records)) {
    os << "| " << llvm::format_hex(instruction.number, 5) << " | `" << instruction.mnemonic << "` | ";
    bool first = true;
    for (const Operand& operand : instruction.operands) {
      os << (first ? "" : ", ") << "`" << operand.name << "`: ";
      first = false;
      if (operand.bank == "imm") {
        os << operand.kind;
        continue;
      }
      os << operand.bank << (operand.of == "any" ? "" : " " + operand.of) << (operand.isList ? " list" : "")
         << (operand.isDef ? " out" : "") << (operand.isOwned ? " owned" : "");
    }
    std::string formula = instruction.formula;
    for (size_t at = 0; (at = formula.find('|', at)) != std::string::npos; at += 2)
      formula.insert(at, 1, '\\');
    os << " | " << instruction.summary << "; `" << formula << "` | " << llvm::join(instruction.effects, ", ")
       << " |\n";
  }
}

}  // namespace baton::tblgen

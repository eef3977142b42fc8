// Text of functions, written once over the instruction descriptors.
#include <fmt/format.h>

#include "bytecode/scalar_form.h"
#include "bytecode/vmasm/printer_impl.h"
#include "bytecode/vmasm/token.h"

namespace baton::bytecode {

namespace {

std::string registerText(char bank, uint16_t raw) {
  return fmt::format("{}{}{}", bank, raw & 0x7fff, raw & 0x8000 ? "!" : "");
}

/// Calls f(operand, element, unit) for every element of every operand; for a list also when
/// it is empty, through begin(operand).
struct OperandUnits {
  const InstructionDesc& desc;
  InstructionView view;
  uint32_t listUnit;

  OperandUnits(const InstructionDesc& d, InstructionView v) : desc(d), view(v), listUnit(d.fixedUnits) {}

  /// First unit and number of elements of the next operand; call in order.
  std::pair<uint32_t, uint32_t> next(const OperandDesc& operand) {
    if (!isList(operand.kind)) return {operand.unit, 1};
    const uint32_t size = elementUnits(operand.kind);
    listUnit = (listUnit + size - 1) & ~(size - 1);
    const uint32_t first = listUnit;
    const uint32_t count = view.unit16(operand.unit);
    listUnit += count * size;
    return {first, count};
  }
};

}  // namespace

bool isCanonicalEncoding(const InstructionDesc& desc, std::span<const uint64_t> words) {
  // Every unit that no operand covers is padding.
  const InstructionView view{words.data()};
  std::vector<bool> covered(4 * words.size(), false);
  covered[0] = true;
  OperandUnits units(desc, view);
  for (const OperandDesc& operand : desc.operands) {
    const auto [first, count] = units.next(operand);
    const uint32_t size = elementUnits(operand.kind);
    if (isList(operand.kind)) covered[operand.unit] = true;
    for (uint32_t i = 0; i < count * size; ++i) covered[first + i] = true;
  }
  for (uint32_t unit = 0; unit < covered.size(); ++unit)
    if (!covered[unit] && view.unit16(unit) != 0) return false;
  return true;
}

std::span<const uint64_t> Printer::codeOf(const Function& function) const {
  const uint64_t end = uint64_t{function.codeOffset} + function.codeSize;
  if (end > program_.code.size()) return {};
  return std::span(program_.code).subspan(function.codeOffset, function.codeSize);
}

std::vector<CodeItem> Printer::itemsOf(std::span<const uint64_t> code) {
  std::vector<CodeItem> items;
  for (uint32_t pc = 0; pc < code.size();) {
    const auto words = instructionWordCount(code.subspan(pc));
    const InstructionDesc* desc = nullptr;
    if (words) {
      desc = findInstructionDesc(static_cast<uint16_t>(code[pc]));
      if (!isCanonicalEncoding(*desc, code.subspan(pc, *words))) desc = nullptr;
    }
    items.push_back({pc, desc});
    pc += desc ? *words : 1;
  }
  return items;
}

Printer::Labels Printer::labelsOf(std::span<const uint64_t> code, const std::vector<CodeItem>& items) const {
  std::vector<bool> isBoundary(code.size() + 1, false);
  isBoundary[code.size()] = true;
  for (const CodeItem& item : items) isBoundary[item.pc] = true;
  Labels labels;
  for (const CodeItem& item : items) {
    if (!item.desc) continue;
    const InstructionView view{code.data() + item.pc};
    OperandUnits units(*item.desc, view);
    for (const OperandDesc& operand : item.desc->operands) {
      const auto [first, count] = units.next(operand);
      if (operand.kind != OperandKind::Target && operand.kind != OperandKind::TargetList) continue;
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t target = view.unit32(first + 2 * i);
        if (target < isBoundary.size() && isBoundary[target]) labels[target];
      }
    }
  }
  int number = 0;
  for (auto& [pc, name] : labels) name = fmt::format("b{}", number++);
  return labels;
}

std::string Printer::message(uint32_t index) const {
  return messages_.isInline(index) ? escapeString(program_.messages[index]) : fmt::format("m{}", index);
}

/// The 64-bit immediate, as a value of the dtype operand before it.
std::string Printer::immediate(const InstructionDesc& desc, size_t operand, InstructionView view) const {
  const uint64_t bits = view.unit64(desc.operands[operand].unit);
  for (size_t i = operand; i-- > 0;) {
    if (desc.operands[i].kind != OperandKind::DTypeImm) continue;
    const uint16_t dtype = view.unit16(desc.operands[i].unit);
    if (dtype < kDTypeCount) return scalarText(bits, static_cast<DType>(dtype));
  }
  return fmt::format("{:#x}", bits);
}

std::string Printer::instruction(const InstructionDesc& desc, InstructionView view,
                                 const Labels& labels) const {
  std::string results;
  std::string operands;
  OperandUnits units(desc, view);
  for (size_t i = 0; i < desc.operands.size(); ++i) {
    const OperandDesc& operand = desc.operands[i];
    const auto [first, count] = units.next(operand);
    std::string text;
    for (uint32_t j = 0; j < count; ++j) {
      if (j > 0) text += ", ";
      const uint32_t unit = first + j * elementUnits(operand.kind);
      switch (operand.kind) {
        case OperandKind::SUse:
        case OperandKind::SDef:
        case OperandKind::SUseList:
        case OperandKind::SDefList: text += registerText('s', view.unit16(unit)); break;
        case OperandKind::RUse:
        case OperandKind::ROwn:
        case OperandKind::RDef:
        case OperandKind::RUseList:
        case OperandKind::ROwnList:
        case OperandKind::RDefList: text += registerText('r', view.unit16(unit)); break;
        case OperandKind::DTypeImm:
          if (view.unit16(unit) < kDTypeCount)
            text += dtypeShortName(static_cast<DType>(view.unit16(unit)));
          else
            text += fmt::format("{}", view.unit16(unit));
          break;
        case OperandKind::SmallImm: text += fmt::format("{}", view.unit16(unit)); break;
        case OperandKind::FunctionRef: text += functions_.reference(view.unit32(unit)); break;
        case OperandKind::KernelRef: text += kernels_.reference(view.unit32(unit)); break;
        case OperandKind::ConstantRef: text += fmt::format("c{}", view.unit32(unit)); break;
        case OperandKind::TypeRef: text += fmt::format("t{}", view.unit32(unit)); break;
        case OperandKind::KindRef: text += fmt::format("k{}", view.unit32(unit)); break;
        case OperandKind::MessageRef: text += message(view.unit32(unit)); break;
        case OperandKind::Target:
        case OperandKind::TargetList: {
          const auto label = labels.find(view.unit32(unit));
          text += label != labels.end() ? label->second : fmt::format("+{}", view.unit32(unit));
          break;
        }
        case OperandKind::Imm64: text += immediate(desc, i, view); break;
      }
    }
    if (isDef(operand.kind)) {
      results += (results.empty() || text.empty() ? "" : ", ") + text;
    } else {
      operands += operands.empty() ? " " : ", ";
      operands += isList(operand.kind) ? "[" + text + "]" : text;
    }
  }
  return results + (results.empty() ? "" : " = ") + std::string(desc.mnemonic) + operands;
}

std::string Printer::instruction(FunctionIndex index, uint32_t pc) {
  const auto code = codeOf(program_.functions[index.value()]);
  if (pc >= code.size()) return "(outside the code)";
  if (!instructionWordCount(code.subspan(pc))) return fmt::format(".word {:#018x}", code[pc]);
  const InstructionView view{code.data() + pc};
  return instruction(*findInstructionDesc(view.unit16(0)), view, {});
}

std::string Printer::place(const DebugInfo::Place& place) const {
  const auto entry = [](const StringTableText& table, const std::vector<std::string>& list, uint32_t index) {
    return table.isInline(index) ? escapeString(list[index]) : fmt::format("#{}", index);
  };
  std::string text =
      fmt::format("{}:{}:{}", entry(files_, program_.debug.files, place.file), place.line, place.column);
  const bool isUnnamed = place.name == 0 && !program_.debug.names.empty() && program_.debug.names[0].empty();
  if (!isUnnamed) text += " " + entry(names_, program_.debug.names, place.name);
  if (place.inlinedAt != 0) text += fmt::format(" inlined {}", place.inlinedAt - 1);
  return text;
}

void Printer::function(FunctionIndex index, uint64_t expectedOffset) {
  const Function& function = program_.functions[index.value()];
  out_ += "fn " + functions_.declaration(index.value());
  if (function.isClosure || !function.captures.empty())
    out_ += fmt::format(" {} [{}]", function.isClosure ? "closure" : "captures", kinds(function.captures));
  const uint32_t signatureIndex = function.signature.value();
  if (signatureIndex < program_.signatures.size() &&
      firstEqualSignature_[signatureIndex] == function.signature)
    out_ += " " + signature(program_.signatures[signatureIndex]);
  else
    out_ += fmt::format(" : sig{}", signatureIndex);
  out_ += fmt::format(" regs s{} r{}", function.scalarRegisterCount, function.referenceRegisterCount);
  if (function.codeOffset != expectedOffset) out_ += fmt::format(" at {}", function.codeOffset);
  out_ += " {\n";

  const auto code = codeOf(function);
  const std::vector<CodeItem> items = itemsOf(code);
  const Labels labels = labelsOf(code, items);
  const auto& positions = program_.debug.positions;
  auto next = positions.begin();
  if (inlinePositions_)
    next = std::lower_bound(positions.begin(), positions.end(), index,
                            [](const DebugInfo::Position& p, FunctionIndex f) { return p.function < f; });
  const auto before = [&](uint32_t pc) {
    if (const auto label = labels.find(pc); label != labels.end()) out_ += label->second + ":\n";
    for (; inlinePositions_ && next != positions.end() && next->function == index && next->pc == pc; ++next)
      out_ += "  .loc " + place(*next) + "\n";
  };
  for (const CodeItem& item : items) {
    before(item.pc);
    if (item.desc)
      out_ += "  " + instruction(*item.desc, InstructionView{code.data() + item.pc}, labels) + "\n";
    else
      out_ += fmt::format("  .word {:#018x}\n", code[item.pc]);
  }
  before(static_cast<uint32_t>(code.size()));
  out_ += "}\n";
}

void Printer::collectUses() {
  for (const Function& function : program_.functions) {
    const auto code = codeOf(function);
    for (const CodeItem& item : itemsOf(code)) {
      if (!item.desc) continue;
      const InstructionView view{code.data() + item.pc};
      for (const OperandDesc& operand : item.desc->operands)
        if (operand.kind == OperandKind::MessageRef) messages_.use(view.unit32(operand.unit));
    }
  }
  if (!program_.debug.positions.empty() || !program_.debug.inlineSites.empty()) names_.use(0);
  const auto use = [&](const DebugInfo::Place& place) {
    files_.use(place.file);
    names_.use(place.name);
  };
  for (const DebugInfo::Place& site : program_.debug.inlineSites) use(site);
  for (const DebugInfo::Position& position : program_.debug.positions) use(position);
}

bool Printer::positionsFitInline() const {
  const auto& positions = program_.debug.positions;
  size_t next = 0;
  for (uint32_t f = 0; f < program_.functions.size(); ++f) {
    const auto code = codeOf(program_.functions[f]);
    const auto take = [&](uint32_t pc) {
      while (next < positions.size() && positions[next].function.value() == f && positions[next].pc == pc)
        ++next;
    };
    for (const CodeItem& item : itemsOf(code)) take(item.pc);
    take(static_cast<uint32_t>(code.size()));
  }
  return next == positions.size();
}

InstructionPrinter::InstructionPrinter(const Program& program)
    : printer_(std::make_unique<Printer>(program)) {}
InstructionPrinter::~InstructionPrinter() = default;

std::string InstructionPrinter::print(FunctionIndex function, uint32_t pc) const {
  return printer_->instruction(function, pc);
}

std::string printInstruction(const Program& program, FunctionIndex function, uint32_t pc) {
  return InstructionPrinter(program).print(function, pc);
}

std::string printFunction(const Program& program, FunctionIndex function) {
  Printer printer(program);
  printer.showPositions();
  printer.function(function, program.functions[function.value()].codeOffset);
  return printer.take();
}

}  // namespace baton::bytecode

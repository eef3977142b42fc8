// State of one printing.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/isa/instruction.h"
#include "bytecode/program.h"
#include "bytecode/vmasm/printer.h"
#include "bytecode/vmasm/string_table_text.h"

namespace baton::bytecode {

/// How the symbols of one scope are written: by name where that is unambiguous, else "?3".
std::vector<std::string> symbolTexts(const std::vector<std::string>& names);

/// Functions or kernels: "@name", or by number where the name is missing or not unique.
class NameTable {
 public:
  NameTable(char sigil, std::vector<std::string_view> names);
  std::string reference(uint32_t index) const;
  /// As in a declaration, the name whatever it is.
  std::string declaration(uint32_t index) const;

 private:
  char sigil_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, uint32_t> counts_;
};

/// A piece of code as it is written: an instruction, or one word that is none.
struct CodeItem {
  uint32_t pc;
  const InstructionDesc* desc;  ///< null: a word
};

class Printer {
 public:
  explicit Printer(const Program& program, VmasmPrintOptions options = {});

  Result<void> program();
  /// `expectedOffset`: where its code begins when functions follow each other.
  void function(FunctionIndex index, uint64_t expectedOffset);
  /// Of a single function: with the source positions between its instructions.
  void showPositions() { inlinePositions_ = positionsFitInline(); }
  std::string instruction(FunctionIndex function, uint32_t pc);
  std::string kind(const Kind& kind) const;
  std::string valueType(const ValueType& type, const std::vector<std::string>& symbols) const;

  std::string take() { return std::move(out_); }

 private:
  using Labels = std::map<uint32_t, std::string>;

  void collectUses();
  void meta();
  void tables();
  void type(uint32_t index);
  Result<void> constant(uint32_t index);
  void kernel(uint32_t index);
  void kernelOperand(const char* what, const KernelOperand& operand, const std::vector<std::string>& symbols);
  Result<void> image(uint32_t index);
  void entryPoint(const EntryPoint& entryPoint);
  void constraints(const std::vector<DimConstraint>& constraints, const std::vector<std::string>& symbols);
  void positions();
  void tests();
  Result<void> bytes(const std::string& blobName, std::span<const std::byte> bytes);

  std::string signature(const Signature& signature) const;
  std::string kinds(std::span<const Kind> kinds) const;
  std::string extents(const std::vector<DimExpr>& extents, const std::vector<std::string>& symbols) const;
  std::string message(uint32_t index) const;
  std::string place(const DebugInfo::Place& place) const;
  std::string instruction(const InstructionDesc& desc, InstructionView view, const Labels& labels) const;
  std::string immediate(const InstructionDesc& desc, size_t operand, InstructionView view) const;

  std::span<const uint64_t> codeOf(const Function& function) const;
  /// Cuts the code into what is written as instructions and what as words.
  static std::vector<CodeItem> itemsOf(std::span<const uint64_t> code);
  Labels labelsOf(std::span<const uint64_t> code, const std::vector<CodeItem>& items) const;
  bool positionsFitInline() const;
  bool signaturesMustBeDeclared() const;

  const Program& program_;
  VmasmPrintOptions options_;
  std::string out_;
  NameTable functions_, kernels_;
  StringTableText messages_, files_, names_;
  std::vector<SignatureIndex> firstEqualSignature_;
  bool inlinePositions_ = false;
};

/// Whether the instruction is the one and only encoding of what it says: zero padding.
bool isCanonicalEncoding(const InstructionDesc& desc, std::span<const uint64_t> words);

}  // namespace baton::bytecode

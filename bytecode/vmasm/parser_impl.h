// State of one parsing: a cursor over the tokens, the program so far, and the names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bytecode/isa/instruction.h"
#include "bytecode/program.h"
#include "bytecode/vmasm/parser.h"
#include "bytecode/vmasm/token.h"

namespace baton::bytecode {

/// Names of the symbols of one scope; "?3" is always number 3.
class SymbolScope {
 public:
  void add(std::string_view name);
  std::optional<DimSymbol> find(std::string_view name) const;

 private:
  std::unordered_map<std::string, std::optional<DimSymbol>> symbols_;  // nothing: ambiguous
  uint32_t count_ = 0;
};

class Parser {
 public:
  Parser(std::vector<Token> tokens, const VmasmParseOptions& options);
  Result<Program> parse();

 private:
  /// A list of strings that grows with its uses.
  struct StringTable {
    std::unordered_map<std::string, uint32_t> firstIndex;
    uint32_t add(std::vector<std::string>& list, std::string text);     ///< a declaration
    uint32_t intern(std::vector<std::string>& list, std::string text);  ///< a use
  };
  struct NamedLabel {
    Label label;
    bool isBound = false;
    Token firstUse;
  };
  struct Register {
    char bank;
    uint16_t raw;
    Token token;
  };
  /// Operands of one instruction as read, before they are encoded.
  struct OperandValue {
    std::vector<uint64_t> numbers;
    std::vector<bool> isLabel;  ///< per number, for targets: a Label rather than an offset
  };
  struct FunctionBody;

  // parse_cursor.cc
  const Token& peek(size_t ahead = 0) const;
  Token take();
  bool takeIf(std::string_view text);
  Result<void> expect(std::string_view text);
  Error unexpected(std::string_view expected) const;
  Result<std::string> string();
  Result<std::string> identifier(std::string_view what);
  Result<std::string> nameOrString();
  Result<uint64_t> number(uint64_t max, std::string_view what);
  Result<int64_t> signedNumber();
  /// "t3": an identifier that is `prefix` and a number.
  Result<uint32_t> index(std::string_view prefix);
  /// "t3 =" where 3 is the number of the next entry.
  Result<void> nextIndex(std::string_view prefix, size_t count);
  /// Calls `element` for each of "[a, b]" with these brackets.
  template <class F>
  Result<void> list(std::string_view open, std::string_view close, F&& element);
  Result<std::vector<std::string>> stringList();
  /// base64 or file.
  Result<std::span<const std::byte>> bytes();

  // parse_types.cc
  Result<DType> dtype();
  Result<Kind> kind();
  Result<std::vector<Kind>> kinds(std::string_view open, std::string_view close);
  Result<Signature> signature();
  void addSignature(Signature signature);
  /// The first equal one.
  SignatureIndex internSignature(Signature signature);
  Result<DimExpr> dim(const SymbolScope& scope);
  Result<DimExpr> dimFactor(const SymbolScope& scope, bool takesSign, bool& isNegative);
  Result<std::vector<DimExpr>> extents(const SymbolScope& scope);
  Result<ValueType> valueType(const SymbolScope& scope);
  Result<DimConstraint> constraint(const SymbolScope& scope);
  Result<uint32_t> reference(std::string_view sigil, const std::unordered_map<std::string, uint32_t>& names);
  Result<void> type();

  // parse_program.cc
  void collectNames();
  Result<void> statement();
  Result<void> meta();
  Result<void> tableEntry();
  Result<void> constant();
  Result<void> kernel();
  Result<KernelOperand> kernelOperand(const SymbolScope& scope);
  Result<void> image();
  Result<void> entryPoint();
  Result<EntryPoint::View> view(const SymbolScope& scope, size_t count);
  Result<void> test();
  Result<DebugInfo::Position> position();
  Result<uint32_t> tableUse(StringTable& table, std::vector<std::string>& list);

  // parse_code.cc
  Result<void> function();
  Result<void> code(FunctionBody& body);
  Result<void> instruction(FunctionBody& body);
  Result<Register> registerOperand();
  bool isRegister(const Token& token) const;
  static void encode(const InstructionDesc& desc, const std::vector<OperandValue>& values, Encoder& encoder);
  Result<void> element(const InstructionDesc& desc, size_t index, const std::vector<OperandValue>& before,
                       FunctionBody& body, OperandValue& value);

  std::vector<Token> tokens_;
  size_t next_ = 0;
  const VmasmParseOptions& options_;
  Program program_;
  std::unordered_map<std::string, uint32_t> functionNames_, kernelNames_;
  std::unordered_map<std::string, SignatureIndex> signatures_;  // by text
  StringTable messages_, files_, names_;
};

template <class F>
Result<void> Parser::list(std::string_view open, std::string_view close, F&& element) {
  BATON_TRY(expect(open));
  if (takeIf(close)) return success();
  do {
    BATON_TRY(element());
  } while (takeIf(","));
  if (!peek().is(close)) return unexpected("`,` or `" + std::string(close) + "`");
  take();
  return success();
}

}  // namespace baton::bytecode

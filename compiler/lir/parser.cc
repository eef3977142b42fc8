#include "compiler/lir/parser.h"

#include <cctype>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "compiler/lir/operands.h"

namespace baton::lir {

namespace {

constexpr uint32_t kMaxRegisterNumber = 1u << 24;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Module> parse() {
    BATON_TRY(declareFunctions());
    position_ = 0;
    skipBlanks();
    for (Function& function : module_.functions) BATON_TRY(parseFunction(function));
    return std::move(module_);
  }

 private:
  //===-- Text ---------------------------------------------------------------===//

  Error errorHere(std::string message) const {
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < position_ && i < text_.size(); ++i) {
      ++column;
      if (text_[i] != '\n') continue;
      ++line;
      column = 1;
    }
    return Error(ErrorCode::Malformed, fmt::format("{}:{}: {}", line, column, message));
  }

  bool atEnd() const { return position_ >= text_.size(); }
  char peek() const { return atEnd() ? '\0' : text_[position_]; }

  void skipBlanks() {
    while (!atEnd()) {
      if (std::isspace(static_cast<unsigned char>(peek())) != 0)
        ++position_;
      else if (peek() == '#')
        while (!atEnd() && peek() != '\n') ++position_;
      else
        return;
    }
  }

  bool accept(std::string_view token) {
    if (text_.substr(position_, token.size()) != token) return false;
    position_ += token.size();
    skipBlanks();
    return true;
  }
  Result<void> expect(std::string_view token) {
    if (!accept(token)) return errorHere(fmt::format("expected '{}'", token));
    return success();
  }

  static bool isWordChar(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$' || c == '/';
  }
  std::string_view word() {
    const size_t begin = position_;
    while (!atEnd() && isWordChar(peek())) ++position_;
    const std::string_view found = text_.substr(begin, position_ - begin);
    skipBlanks();
    return found;
  }

  Result<uint64_t> number() {
    const bool isHex = text_.substr(position_, 2) == "0x";
    const char* begin = text_.data() + position_ + (isHex ? 2 : 0);
    const char* end = text_.data() + text_.size();
    uint64_t value = 0;
    const auto [after, status] = std::from_chars(begin, end, value, isHex ? 16 : 10);
    if (status != std::errc()) return errorHere("expected a number");
    position_ = static_cast<size_t>(after - text_.data());
    skipBlanks();
    return value;
  }
  Result<uint32_t> index() {
    BATON_TRY_ASSIGN(const uint64_t value, number());
    if (value > UINT32_MAX) return errorHere("number out of range");
    return static_cast<uint32_t>(value);
  }
  /// "<3>"
  Result<uint32_t> bracketed() {
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t value, index());
    BATON_TRY(expect(">"));
    return value;
  }

  //===-- Kinds and registers ------------------------------------------------===//

  Result<DType> dtype() {
    const std::optional<DType> parsed = parseDType(word());
    if (!parsed) return errorHere("expected a dtype");
    return *parsed;
  }

  Result<Kind> kind() {
    const size_t begin = position_;
    const std::string_view name = word();
    Kind result;
    if (name == "tensor") {
      BATON_TRY(expect("<"));
      BATON_TRY_ASSIGN(const DType type, dtype());
      BATON_TRY(expect(","));
      BATON_TRY_ASSIGN(const uint32_t rank, index());
      uint32_t device = 0;
      if (accept(",")) {
        BATON_TRY_ASSIGN(device, index());
      }
      BATON_TRY(expect(">"));
      if (rank > UINT8_MAX || device > UINT8_MAX) return errorHere("number out of range");
      return Kind::tensor(type, static_cast<uint8_t>(rank), static_cast<uint8_t>(device));
    }
    if (name == "storage") {
      if (peek() != '<') return Kind::storage();
      BATON_TRY_ASSIGN(const uint32_t device, bracketed());
      return Kind::storage(static_cast<uint8_t>(device));
    }
    if (name == "closure") {
      BATON_TRY(expect("<"));
      BATON_TRY_ASSIGN(const uint32_t signature, index());
      std::optional<FunctionIndex> function;
      if (accept(",")) {
        BATON_TRY_ASSIGN(const uint32_t number, index());
        function = FunctionIndex(number);
      }
      BATON_TRY(expect(">"));
      return Kind::closure(SignatureIndex(signature), function);
    }
    if (name == "adt") {
      BATON_TRY_ASSIGN(const uint32_t type, bracketed());
      return Kind::adt(TypeIndex(type));
    }
    if (name == "cell" || name == "array") {
      BATON_TRY_ASSIGN(const uint32_t content, bracketed());
      return name == "array" ? Kind::array(KindIndex(content)) : Kind::cell(KindIndex(content));
    }
    if (const std::optional<DType> scalar = parseDType(name)) return Kind::scalar(*scalar);
    position_ = begin;
    return errorHere("expected a kind");
  }

  Result<Register> registerNumber() {
    BATON_TRY(expect("%"));
    BATON_TRY_ASSIGN(const uint32_t value, index());
    if (value >= kMaxRegisterNumber) return errorHere("register number out of range");
    if (value >= function_->registers.size()) function_->registers.resize(value + 1);
    return Register(value);
  }
  Result<Register> definition() {
    BATON_TRY_ASSIGN(const Register reg, registerNumber());
    BATON_TRY(expect(":"));
    BATON_TRY_ASSIGN(function_->registers[reg.value()].kind, kind());
    return reg;
  }
  Result<uint64_t> use() {
    BATON_TRY_ASSIGN(const Register reg, registerNumber());
    return RegisterOperand{reg, accept("!")}.slot();
  }
  Result<uint64_t> blockNumber() {
    BATON_TRY(expect("b"));
    BATON_TRY_ASSIGN(const uint32_t value, index());
    return uint64_t{value};
  }

  //===-- Functions ----------------------------------------------------------===//

  /// Calls name functions that come later, so names are collected first.
  Result<void> declareFunctions() {
    skipBlanks();
    while (!atEnd()) {
      BATON_TRY(expect("func"));
      BATON_TRY(expect("@"));
      const std::string name(word());
      if (!functions_.emplace(name, module_.functions.size()).second)
        return errorHere(fmt::format("function @{} is defined twice", name));
      module_.functions.emplace_back().name = name;
      while (!atEnd() && peek() != '}') {
        if (peek() == '#')
          skipBlanks();
        else
          ++position_;
      }
      BATON_TRY(expect("}"));
    }
    return success();
  }

  Result<void> parseFunction(Function& function) {
    function_ = &function;
    BATON_TRY(expect("func"));
    BATON_TRY(expect("@"));
    word();
    BATON_TRY(expect("signature"));
    BATON_TRY_ASSIGN(const uint32_t signature, bracketed());
    function.signature = SignatureIndex(signature);
    if (accept("closure")) {
      function.isClosure = true;
      BATON_TRY(expect("("));
      while (!accept(")")) {
        BATON_TRY_ASSIGN(Kind capture, kind());
        function.captures.push_back(capture);
        if (peek() != ')') BATON_TRY(expect(","));
      }
    }
    BATON_TRY(expect("{"));
    while (!accept("}")) BATON_TRY(parseBlock());
    return success();
  }

  Result<void> parseBlock() {
    BATON_TRY_ASSIGN(const uint64_t number, blockNumber());
    if (number != function_->blocks.size())
      return errorHere(fmt::format("block b{} found, expected b{}", number, function_->blocks.size()));
    Block block;
    if (accept("(")) {
      while (!accept(")")) {
        BATON_TRY_ASSIGN(const Register param, definition());
        block.params.push_back(param);
        if (peek() != ')') BATON_TRY(expect(","));
      }
    }
    BATON_TRY(expect(":"));
    do {
      BATON_TRY_ASSIGN(Instruction instruction, parseInstruction());
      block.instructions.push_back(instruction);
    } while (!isTerminator(block.instructions.back()));
    function_->blocks.push_back(std::move(block));
    return success();
  }

  Result<Instruction> parseInstruction() {
    std::vector<uint64_t> definitions[kBankCount];
    if (peek() == '%') {
      do {
        BATON_TRY_ASSIGN(const Register reg, definition());
        definitions[static_cast<int>(function_->bankOf(reg))].push_back(reg.value());
      } while (accept(","));
      BATON_TRY(expect("="));
    }
    const size_t begin = position_;
    const bytecode::InstructionDesc* desc = bytecode::findInstructionDesc(word());
    if (desc == nullptr) {
      position_ = begin;
      return errorHere("expected an instruction");
    }
    std::vector<uint64_t> fixed;
    std::vector<uint64_t> elements;
    bool isFirst = true;
    size_t used = 0;
    for (const bytecode::OperandDesc& operand : desc->operands) {
      if (bytecode::isDef(operand.kind)) {
        const auto& defs = definitions[static_cast<int>(
            bytecode::isScalarOperand(operand.kind) ? Bank::Scalar : Bank::Reference)];
        if (isList(operand.kind)) {
          fixed.push_back(defs.size());
          elements.insert(elements.end(), defs.begin(), defs.end());
          used += defs.size();
        } else {
          if (defs.size() != 1) return errorHere(fmt::format("{} defines one register", desc->mnemonic));
          fixed.push_back(defs[0]);
          ++used;
        }
        continue;
      }
      if (!isFirst) BATON_TRY(expect(","));
      isFirst = false;
      if (isList(operand.kind)) {
        const size_t before = elements.size();
        BATON_TRY(parseList(operand.kind, elements));
        fixed.push_back(elements.size() - before);
      } else {
        BATON_TRY_ASSIGN(const uint64_t value, parseFixed(operand.kind));
        fixed.push_back(value);
      }
    }
    if (used != definitions[0].size() + definitions[1].size())
      return errorHere(fmt::format("too many registers defined by {}", desc->mnemonic));
    if (desc->opcode == Opcode::Jump) {
      const size_t before = elements.size();
      if (peek() == '(') BATON_TRY(parseList(OperandKind::RUseList, elements));
      fixed.push_back(elements.size() - before);
    }
    Instruction instruction;
    instruction.opcode = desc->opcode;
    instruction.firstSlot = static_cast<uint32_t>(function_->slots.size());
    function_->slots.insert(function_->slots.end(), fixed.begin(), fixed.end());
    function_->slots.insert(function_->slots.end(), elements.begin(), elements.end());
    return instruction;
  }

  Result<void> parseList(OperandKind kind, std::vector<uint64_t>& elements) {
    const bool isTargets = kind == OperandKind::TargetList;
    BATON_TRY(expect(isTargets ? "[" : "("));
    const std::string_view end = isTargets ? "]" : ")";
    while (!accept(end)) {
      BATON_TRY_ASSIGN(const uint64_t element, isTargets ? blockNumber() : use());
      elements.push_back(element);
      if (peek() != end[0]) BATON_TRY(expect(","));
    }
    return success();
  }

  Result<uint64_t> named(std::string_view name) {
    BATON_TRY(expect(name));
    BATON_TRY_ASSIGN(const uint32_t value, bracketed());
    return uint64_t{value};
  }

  Result<uint64_t> parseFixed(OperandKind kind) {
    switch (kind) {
      case OperandKind::SUse:
      case OperandKind::RUse:
      case OperandKind::ROwn: return use();
      case OperandKind::DTypeImm: {
        BATON_TRY_ASSIGN(const DType type, dtype());
        return static_cast<uint64_t>(type);
      }
      case OperandKind::SmallImm:
      case OperandKind::Imm64: return number();
      case OperandKind::FunctionRef: {
        if (!accept("@")) return named("function");
        const size_t begin = position_;
        const auto found = functions_.find(std::string(word()));
        if (found != functions_.end()) return uint64_t{found->second};
        position_ = begin;
        return errorHere("unknown function");
      }
      case OperandKind::KernelRef: return named("kernel");
      case OperandKind::ConstantRef: return named("constant");
      case OperandKind::TypeRef: return named("type");
      case OperandKind::KindRef: return named("kind");
      case OperandKind::MessageRef: return named("message");
      case OperandKind::Target: return blockNumber();
      case OperandKind::SDef:
      case OperandKind::RDef:
      case OperandKind::SUseList:
      case OperandKind::SDefList:
      case OperandKind::RUseList:
      case OperandKind::ROwnList:
      case OperandKind::RDefList:
      case OperandKind::TargetList: break;
    }
    return errorHere("internal error: not an operand");
  }

  std::string_view text_;
  size_t position_ = 0;
  Module module_;
  Function* function_ = nullptr;
  std::unordered_map<std::string, size_t> functions_;
};

}  // namespace

Result<Module> parseModule(std::string_view text) { return Parser(text).parse(); }

}  // namespace baton::lir

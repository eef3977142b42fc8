// Functions and instructions, written once over the instruction descriptors.
#include <fmt/format.h>

#include "bytecode/scalar_form.h"
#include "bytecode/vmasm/parser_impl.h"

namespace baton::bytecode {

struct Parser::FunctionBody {
  FunctionIndex index;
  Encoder encoder;
  std::unordered_map<std::string, NamedLabel> labels;
  std::vector<std::string> labelOrder;
  uint32_t registerCounts[2] = {0, 0};  // s, r: one more than the highest in use

  NamedLabel& find(const std::string& name, const Token& token) {
    const auto [found, isNew] = labels.try_emplace(name);
    if (isNew) {
      found->second.label = encoder.newLabel();
      found->second.firstUse = token;
      labelOrder.push_back(name);
    }
    return found->second;
  }
};

namespace {

std::string signatureKey(const Signature& signature) {
  std::string key;
  for (const auto* list : {&signature.params, &signature.results}) {
    for (const Kind& kind : *list)
      key += fmt::format("{},{},{},{},{},{};", static_cast<int>(kind.tag), static_cast<int>(kind.dtype),
                         kind.rank, kind.device, kind.index,
                         kind.function ? int64_t{kind.function->value()} : -1);
    key += '>';
  }
  return key;
}

}  // namespace

void Parser::addSignature(Signature signature) {
  signatures_.try_emplace(signatureKey(signature),
                          SignatureIndex(static_cast<uint32_t>(program_.signatures.size())));
  program_.signatures.push_back(std::move(signature));
}

SignatureIndex Parser::internSignature(Signature signature) {
  const auto found = signatures_.find(signatureKey(signature));
  if (found != signatures_.end()) return found->second;
  addSignature(std::move(signature));
  return SignatureIndex(static_cast<uint32_t>(program_.signatures.size() - 1));
}

// fn @name closure [captures] (params) -> (results) regs s1 r2 { ... }
Result<void> Parser::function() {
  Function function;
  BATON_TRY(expect("@"));
  BATON_TRY_ASSIGN(function.name, nameOrString());
  if (peek().is("closure") || peek().is("captures")) {
    function.isClosure = take().is("closure");
    BATON_TRY_ASSIGN(function.captures, kinds("[", "]"));
  }
  Signature known;
  if (takeIf(":")) {
    BATON_TRY_ASSIGN(const uint32_t number, index("sig"));
    function.signature = SignatureIndex(number);
    if (number < program_.signatures.size()) known = program_.signatures[number];
  } else {
    BATON_TRY_ASSIGN(known, signature());
    function.signature = internSignature(known);
  }
  bool hasCounts = false;
  if (takeIf("regs")) {
    hasCounts = true;
    BATON_TRY_ASSIGN(function.scalarRegisterCount, index("s"));
    BATON_TRY_ASSIGN(function.referenceRegisterCount, index("r"));
  }
  function.codeOffset = static_cast<uint32_t>(program_.code.size());
  if (takeIf("at")) {
    BATON_TRY_ASSIGN(const uint64_t offset, number(UINT32_MAX, "a word offset"));
    function.codeOffset = static_cast<uint32_t>(offset);
  }

  FunctionBody body;
  body.index = FunctionIndex(static_cast<uint32_t>(program_.functions.size()));
  body.registerCounts[1] = function.isClosure ? 1 : 0;
  for (const Kind& kind : known.params) ++body.registerCounts[kind.isScalar() ? 0 : 1];
  BATON_TRY(code(body));
  if (!hasCounts) {
    function.scalarRegisterCount = body.registerCounts[0];
    function.referenceRegisterCount = body.registerCounts[1];
  }
  const std::vector<uint64_t> words = body.encoder.finish();
  if (program_.code.size() + words.size() > UINT32_MAX) return unexpected("less code");
  function.codeSize = static_cast<uint32_t>(words.size());
  program_.code.insert(program_.code.end(), words.begin(), words.end());
  program_.functions.push_back(std::move(function));
  return success();
}

Result<void> Parser::code(FunctionBody& body) {
  BATON_TRY(expect("{"));
  while (!peek().is("}")) {
    if (peek().kind == TokenKind::Identifier && peek(1).is(":")) {
      const Token name = take();
      take();
      NamedLabel& label = body.find(std::string(name.text), name);
      if (label.isBound) return errorAt(name, fmt::format("label `{}` is bound twice", name.text));
      label.isBound = true;
      body.encoder.bind(label.label);
    } else if (takeIf(".word")) {
      BATON_TRY_ASSIGN(const uint64_t word, number(UINT64_MAX, "a word"));
      body.encoder.word(word);
    } else if (takeIf(".loc")) {
      BATON_TRY_ASSIGN(const auto position, this->position(body.index, body.encoder.offset()));
      program_.debug.positions.push_back(position);
    } else {
      BATON_TRY(instruction(body));
    }
  }
  for (const std::string& name : body.labelOrder)
    if (!body.labels[name].isBound)
      return errorAt(body.labels[name].firstUse,
                     fmt::format("label `{}` is not bound in this function", name));
  take();
  return success();
}

bool Parser::isRegister(const Token& token) const {
  if (token.kind != TokenKind::Identifier || token.text.size() < 2) return false;
  if (token.text[0] != 's' && token.text[0] != 'r') return false;
  return token.text.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

Result<Parser::Register> Parser::registerOperand() {
  const Token token = peek();
  if (!isRegister(token)) return unexpected("a register");
  const char bank = token.text[0];
  BATON_TRY_ASSIGN(const uint32_t number, index(bank == 's' ? "s" : "r"));
  if (number >= kMaxRegisters)
    return errorAt(
        token, fmt::format("register {} out of range: there are {} of a bank", token.text, kMaxRegisters));
  const bool isLastUse = takeIf("!");
  return Register{bank, static_cast<uint16_t>(number | (isLastUse ? 0x8000 : 0)), token};
}

/// One element of an operand (of any kind but a result).
Result<void> Parser::element(const InstructionDesc& desc, size_t index,
                             const std::vector<OperandValue>& before, FunctionBody& body,
                             OperandValue& value) {
  const OperandDesc& operand = desc.operands[index];
  const auto push = [&](uint64_t number, bool isLabel = false) {
    value.numbers.push_back(number);
    value.isLabel.push_back(isLabel);
  };
  const auto pushIndex = [&](std::string_view prefix) -> Result<void> {
    BATON_TRY_ASSIGN(const uint32_t number, this->index(prefix));
    push(number);
    return success();
  };
  switch (operand.kind) {
    case OperandKind::SUse:
    case OperandKind::SDef:
    case OperandKind::RUse:
    case OperandKind::ROwn:
    case OperandKind::RDef:
    case OperandKind::SUseList:
    case OperandKind::SDefList:
    case OperandKind::RUseList:
    case OperandKind::ROwnList:
    case OperandKind::RDefList: {
      const bool isScalar = isScalarOperand(operand.kind);
      BATON_TRY_ASSIGN(const Register found, registerOperand());
      if ((found.bank == 's') != isScalar)
        return errorAt(found.token,
                       fmt::format("{} of {}: expected a register of bank {}, found `{}`", operand.name,
                                   desc.mnemonic, isScalar ? "s" : "r", found.token.text));
      uint32_t& count = body.registerCounts[isScalar ? 0 : 1];
      count = std::max<uint32_t>(count, (found.raw & 0x7fff) + 1u);
      push(found.raw);
      return success();
    }
    case OperandKind::DTypeImm: {
      if (peek().kind == TokenKind::Number) {
        BATON_TRY_ASSIGN(const uint64_t number, this->number(UINT16_MAX, "a dtype"));
        push(number);
        return success();
      }
      BATON_TRY_ASSIGN(const DType found, dtype());
      push(static_cast<uint64_t>(found));
      return success();
    }
    case OperandKind::SmallImm: {
      BATON_TRY_ASSIGN(const uint64_t number, this->number(UINT16_MAX, operand.name));
      push(number);
      return success();
    }
    case OperandKind::FunctionRef: {
      BATON_TRY_ASSIGN(const uint32_t found, reference("@", functionNames_));
      push(found);
      return success();
    }
    case OperandKind::KernelRef: {
      BATON_TRY_ASSIGN(const uint32_t found, reference("$", kernelNames_));
      push(found);
      return success();
    }
    case OperandKind::ConstantRef: return pushIndex("c");
    case OperandKind::TypeRef: return pushIndex("t");
    case OperandKind::KindRef: return pushIndex("k");
    case OperandKind::MessageRef: {
      if (peek().kind != TokenKind::String) return pushIndex("m");
      BATON_TRY_ASSIGN(auto text, string());
      push(messages_.intern(program_.messages, std::move(text)));
      return success();
    }
    case OperandKind::Target:
    case OperandKind::TargetList: {
      if (takeIf("+")) {
        BATON_TRY_ASSIGN(const uint64_t offset, number(UINT32_MAX, "a word offset"));
        push(offset);
        return success();
      }
      if (peek().kind != TokenKind::Identifier) return unexpected("a label");
      const Token name = take();
      push(body.find(std::string(name.text), name).label.value(), true);
      return success();
    }
    case OperandKind::Imm64: {
      const Token at = peek();
      std::string text;
      if (takeIf("-")) text = "-";
      if (peek().kind != TokenKind::Number && peek().kind != TokenKind::Identifier)
        return unexpected("a number");
      text += take().text;
      for (size_t i = index; i-- > 0;) {
        if (desc.operands[i].kind != OperandKind::DTypeImm) continue;
        if (before[i].numbers[0] >= kDTypeCount) break;
        const auto dtype = static_cast<DType>(before[i].numbers[0]);
        const auto bits = parseScalarText(text, dtype);
        if (!bits) return errorAt(at, fmt::format("`{}` is no value of {}", text, dtypeShortName(dtype)));
        push(*bits);
        return success();
      }
      const auto bits = parseScalarText(text, DType::U64);
      if (!bits) return errorAt(at, fmt::format("expected a 64-bit number, found `{}`", text));
      push(*bits);
      return success();
    }
  }
  return success();
}

Result<void> Parser::instruction(FunctionBody& body) {
  std::vector<Register> results;
  if (isRegister(peek())) {
    do {
      BATON_TRY_ASSIGN(const Register one, registerOperand());
      results.push_back(one);
    } while (takeIf(","));
    BATON_TRY(expect("="));
  }
  const Token mnemonic = peek();
  if (mnemonic.kind != TokenKind::Identifier) return unexpected("an instruction");
  const InstructionDesc* desc = findInstructionDesc(mnemonic.text);
  if (!desc) return errorAt(mnemonic, fmt::format("unknown instruction `{}`", mnemonic.text));
  take();

  std::vector<OperandValue> values(desc->operands.size());
  size_t taken = 0;
  for (char bank : {'s', 'r'})
    for (size_t i = 0; i < values.size(); ++i) {
      const OperandKind kind = desc->operands[i].kind;
      if (!isDef(kind) || isScalarOperand(kind) != (bank == 's')) continue;
      for (const Register& result : results) {
        if (result.bank != bank) continue;
        values[i].numbers.push_back(result.raw);
        uint32_t& count = body.registerCounts[bank == 's' ? 0 : 1];
        count = std::max<uint32_t>(count, (result.raw & 0x7fff) + 1u);
        ++taken;
      }
      if (!isList(kind) && values[i].numbers.size() != 1)
        return errorAt(mnemonic, fmt::format("{} has one result of bank {}, found {}", mnemonic.text, bank,
                                             values[i].numbers.size()));
    }
  if (taken != results.size())
    return errorAt(mnemonic,
                   fmt::format("{} has no such results: {} of {} fit", mnemonic.text, taken, results.size()));

  bool isFirst = true;
  for (size_t i = 0; i < values.size(); ++i) {
    const OperandKind kind = desc->operands[i].kind;
    if (isDef(kind)) continue;
    if (!isFirst) BATON_TRY(expect(","));
    isFirst = false;
    if (!isList(kind)) {
      BATON_TRY(element(*desc, i, values, body, values[i]));
      continue;
    }
    BATON_TRY(list("[", "]", [&] { return element(*desc, i, values, body, values[i]); }));
    if (values[i].numbers.size() > UINT16_MAX)
      return errorAt(mnemonic, fmt::format("a list of {}: at most {}", values[i].numbers.size(), UINT16_MAX));
  }
  encode(*desc, values, body.encoder);
  return success();
}

void Parser::encode(const InstructionDesc& desc, const std::vector<OperandValue>& values, Encoder& encoder) {
  const auto put = [&](OperandKind kind, const OperandValue& value, size_t i) {
    const uint64_t number = value.numbers[i];
    switch (elementUnits(kind)) {
      case 1: encoder.fixed(static_cast<uint16_t>(number)); break;
      case 2:
        if (!value.isLabel.empty() && value.isLabel[i])
          encoder.fixed(Label(static_cast<uint32_t>(number)));
        else
          encoder.fixed(CodeOffset(static_cast<uint32_t>(number)));
        break;
      default: encoder.fixed(number); break;
    }
  };
  encoder.begin(desc.opcode);
  for (size_t i = 0; i < values.size(); ++i) {
    const OperandKind kind = desc.operands[i].kind;
    if (isList(kind))
      encoder.count(std::span<const uint64_t>(values[i].numbers));
    else
      put(kind, values[i], 0);
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (isList(desc.operands[i].kind))
      for (size_t j = 0; j < values[i].numbers.size(); ++j) put(desc.operands[i].kind, values[i], j);
  encoder.end();
}

}  // namespace baton::bytecode

// Kinds, value types, dims, data types, and references to what is declared by name.
#include <fmt/format.h>

#include "bytecode/vmasm/parser_impl.h"

namespace baton::bytecode {

namespace {

/// Parentheses and operations within each other, in a dim expression.
constexpr int kMaxDimNesting = static_cast<int>(kMaxDimDepth) + 8;

std::optional<DimOp> findDimOp(std::string_view name) {
  for (DimOp op : {DimOp::FloorDiv, DimOp::FloorMod, DimOp::CeilDiv, DimOp::Min, DimOp::Max, DimOp::TooLarge})
    if (name == dimOpName(op)) return op;
  return std::nullopt;
}

/// Adds up in a balanced tree, which keeps the cost of a long sum near linear.
DimExpr sumOf(std::vector<DimExpr> terms) {
  if (terms.empty()) return {};
  while (terms.size() > 1) {
    std::vector<DimExpr> sums;
    for (size_t i = 0; i < terms.size(); i += 2)
      sums.push_back(i + 1 < terms.size() ? terms[i] + terms[i + 1] : terms[i]);
    terms = std::move(sums);
  }
  return terms[0];
}

}  // namespace

Result<DType> Parser::dtype() {
  if (peek().kind == TokenKind::Identifier)
    if (const auto dtype = parseDType(peek().text)) {
      take();
      return *dtype;
    }
  return unexpected("a dtype");
}

Result<uint32_t> Parser::reference(std::string_view sigil,
                                   const std::unordered_map<std::string, uint32_t>& names) {
  BATON_TRY(expect(sigil));
  if (peek().kind == TokenKind::Number) {
    BATON_TRY_ASSIGN(const uint64_t value, number(UINT32_MAX, "a number"));
    return static_cast<uint32_t>(value);
  }
  const Token at = peek();
  BATON_TRY_ASSIGN(const std::string name, nameOrString());
  const auto found = names.find(name);
  if (found == names.end()) return errorAt(at, fmt::format("`{}{}` is not declared", sigil, at.text));
  return found->second;
}

Result<Kind> Parser::kind() {
  if (takeIf("tensor")) {
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const DType dtype, this->dtype());
    BATON_TRY(expect(","));
    BATON_TRY_ASSIGN(const uint64_t rank, number(UINT8_MAX, "a rank"));
    uint64_t device = 0;
    if (takeIf(",")) {
      BATON_TRY_ASSIGN(device, number(UINT8_MAX, "a device"));
    }
    BATON_TRY(expect(">"));
    return Kind::tensor(dtype, static_cast<uint8_t>(rank), static_cast<uint8_t>(device));
  }
  if (takeIf("storage")) {
    uint64_t device = 0;
    if (takeIf("<")) {
      BATON_TRY_ASSIGN(device, number(UINT8_MAX, "a device"));
      BATON_TRY(expect(">"));
    }
    return Kind::storage(static_cast<uint8_t>(device));
  }
  if (takeIf("adt")) {
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t type, index("t"));
    BATON_TRY(expect(">"));
    return Kind::adt(TypeIndex(type));
  }
  if (takeIf("closure")) {
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t signature, index("sig"));
    std::optional<FunctionIndex> function;
    if (takeIf(",")) {
      BATON_TRY_ASSIGN(const uint32_t known, reference("@", functionNames_));
      function = FunctionIndex(known);
    }
    BATON_TRY(expect(">"));
    return Kind::closure(SignatureIndex(signature), function);
  }
  for (const auto& [name, tag] :
       {std::pair{"cell", KindTagValue::Cell}, std::pair{"array", KindTagValue::Array}}) {
    if (!takeIf(name)) continue;
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t content, index("k"));
    BATON_TRY(expect(">"));
    return Kind{.tag = tag, .index = content};
  }
  if (peek().kind == TokenKind::Identifier && parseDType(peek().text)) {
    BATON_TRY_ASSIGN(const DType scalar, dtype());
    return Kind::scalar(scalar);
  }
  return unexpected("a kind");
}

Result<std::vector<Kind>> Parser::kinds(std::string_view open, std::string_view close) {
  std::vector<Kind> kinds;
  BATON_TRY(list(open, close, [&]() -> Result<void> {
    BATON_TRY_ASSIGN(const Kind one, kind());
    kinds.push_back(one);
    return success();
  }));
  return kinds;
}

Result<Signature> Parser::signature() {
  Signature signature;
  BATON_TRY_ASSIGN(signature.params, kinds("(", ")"));
  BATON_TRY(expect("->"));
  BATON_TRY_ASSIGN(signature.results, kinds("(", ")"));
  return signature;
}

// Expressions are parsed with a stack of open parentheses and operations, each with the sum
// and the product that it interrupts.
Result<DimExpr> Parser::dim(const SymbolScope& scope) {
  struct Level {
    std::vector<DimExpr> terms;      // of the sum so far
    std::optional<DimExpr> product;  // of the term being read
    bool isNegative = false;         // the sign of that term
    std::optional<DimOp> op;         // an operand of an operation; nothing for parentheses
    std::optional<DimExpr> first;    // the operation's first operand, once read
  };
  std::vector<Level> levels(1);
  while (true) {
    Level& level = levels.back();
    if (level.terms.empty() && !level.product) level.isNegative = takeIf("-");
    const Token at = peek();
    std::optional<DimOp> opened;
    if (at.kind == TokenKind::Identifier) opened = findDimOp(at.text);
    if (opened || at.is("(")) {
      if (levels.size() > kMaxDimNesting) return errorAt(at, "dim expression is nested too deeply");
      take();
      if (opened) BATON_TRY(expect("("));
      levels.emplace_back().op = opened;
      continue;
    }
    BATON_TRY_ASSIGN(DimExpr factor, dimFactor(scope, level.isNegative && !level.product, level.isNegative));
    // What follows a factor. A closing bracket makes a factor of the level below.
    while (true) {
      Level& current = levels.back();
      current.product = current.product ? *current.product * factor : factor;
      if (takeIf("*")) break;
      current.terms.push_back(current.isNegative ? DimExpr() - *current.product : *current.product);
      current.product.reset();
      const bool isSum = peek().is("+") || peek().is("-");
      if (isSum) {
        current.isNegative = take().is("-");
        break;
      }
      DimExpr value = sumOf(std::move(current.terms));
      current.terms.clear();
      if (levels.size() == 1) return value;
      if (current.op && !current.first) {
        BATON_TRY(expect(","));
        current.first = std::move(value);
        break;
      }
      BATON_TRY(expect(")"));
      factor = current.op ? DimExpr::opaque(*current.op, *current.first, value) : std::move(value);
      levels.pop_back();
    }
  }
}

/// A symbol or a number. A number that begins a negative term takes the sign itself, since the
/// least int64 has no positive twin; `isNegative` is then cleared.
Result<DimExpr> Parser::dimFactor(const SymbolScope& scope, bool takesSign, bool& isNegative) {
  const Token at = peek();
  if (takeIf("?")) {
    BATON_TRY_ASSIGN(const uint64_t symbol, number(UINT32_MAX, "a symbol number"));
    return DimExpr::symbol(DimSymbol(static_cast<uint32_t>(symbol)));
  }
  if (at.kind == TokenKind::Number) {
    BATON_TRY_ASSIGN(const uint64_t magnitude, number(uint64_t{1} << 63, "a number"));
    if (!takesSign && magnitude > INT64_MAX) return errorAt(at, "a number out of range of i64");
    if (takesSign) isNegative = false;
    return DimExpr::constant(static_cast<int64_t>(takesSign ? uint64_t{0} - magnitude : magnitude));
  }
  if (at.kind == TokenKind::Identifier) {
    const auto symbol = scope.find(at.text);
    if (!symbol) return errorAt(at, fmt::format("`{}` is no symbol of this scope", at.text));
    take();
    return DimExpr::symbol(*symbol);
  }
  return unexpected("a dim");
}

Result<std::vector<DimExpr>> Parser::extents(const SymbolScope& scope) {
  std::vector<DimExpr> extents;
  if (!peek().is("[")) return extents;
  BATON_TRY(list("[", "]", [&]() -> Result<void> {
    BATON_TRY_ASSIGN(auto one, dim(scope));
    extents.push_back(std::move(one));
    return success();
  }));
  return extents;
}

Result<ValueType> Parser::valueType(const SymbolScope& scope) {
  ValueType type;
  if (takeIf("adt")) {
    type.tag = ValueType::Tag::Adt;
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t number, index("t"));
    type.type = TypeIndex(number);
    if (takeIf(",")) {
      BATON_TRY_ASSIGN(type.view, index("v"));
    }
    BATON_TRY(expect(">"));
  } else if (takeIf("closure")) {
    type.tag = ValueType::Tag::Closure;
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t number, index("sig"));
    type.signature = SignatureIndex(number);
    BATON_TRY(expect(">"));
  } else if (takeIf("cell")) {
    type.tag = ValueType::Tag::Cell;
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t number, index("k"));
    type.content = KindIndex(number);
    BATON_TRY(expect(">"));
  } else if (takeIf("array")) {
    type.tag = ValueType::Tag::Array;
    BATON_TRY(expect("<"));
    BATON_TRY_ASSIGN(const uint32_t content, index("k"));
    type.content = KindIndex(content);
    BATON_TRY(expect(","));
    BATON_TRY_ASSIGN(const uint32_t number, index("t"));
    type.type = TypeIndex(number);
    if (takeIf(",")) {
      BATON_TRY_ASSIGN(type.view, index("v"));
    }
    BATON_TRY(expect(">"));
  } else {
    BATON_TRY_ASSIGN(type.dtype, dtype());
    BATON_TRY_ASSIGN(type.extents, extents(scope));
  }
  return type;
}

Result<DimConstraint> Parser::constraint(const SymbolScope& scope) {
  DimConstraint constraint;
  BATON_TRY_ASSIGN(constraint.lhs, dim(scope));
  for (Relation relation :
       {Relation::Eq, Relation::Ne, Relation::Le, Relation::Lt, Relation::Ge, Relation::Gt})
    if (takeIf(relationName(relation))) {
      constraint.relation = relation;
      BATON_TRY_ASSIGN(constraint.rhs, dim(scope));
      return constraint;
    }
  return unexpected("a relation");
}

// type t0 = "List" list { "Cons" (f32[?0] r0, adt<t0> r1) ... }
Result<void> Parser::type() {
  BATON_TRY(nextIndex("t", program_.types.size()));
  TypeDef type;
  BATON_TRY_ASSIGN(type.name, string());
  type.isTuple = takeIf("tuple");
  type.isList = takeIf("list");
  type.isArray = takeIf("array");
  BATON_TRY(expect("{"));
  while (!takeIf("}")) {
    Constructor constructor;
    BATON_TRY_ASSIGN(constructor.name, string());
    BATON_TRY(list("(", ")", [&]() -> Result<void> {
      Field field;
      BATON_TRY_ASSIGN(field.type, valueType({}));
      field.isScalar = kindOf(field.type).isScalar();
      const bool isScalarText = peek().kind == TokenKind::Identifier && peek().text.starts_with("s");
      const bool isReferenceText = peek().kind == TokenKind::Identifier && peek().text.starts_with("r");
      if (isScalarText || isReferenceText) {
        field.isScalar = isScalarText;
        BATON_TRY_ASSIGN(const uint32_t slot, index(isScalarText ? "s" : "r"));
        if (slot > UINT16_MAX) return unexpected("a slot below 65536");
        field.slot = static_cast<uint16_t>(slot);
      } else {
        field.slot = field.isScalar ? constructor.scalarCount : constructor.referenceCount;
      }
      uint16_t& count = field.isScalar ? constructor.scalarCount : constructor.referenceCount;
      if (count == UINT16_MAX) return unexpected("fewer fields");
      ++count;
      constructor.fields.push_back(std::move(field));
      return success();
    }));
    if (takeIf("counts")) {
      BATON_TRY_ASSIGN(const uint32_t references, index("r"));
      BATON_TRY_ASSIGN(const uint32_t scalars, index("s"));
      if (references > UINT16_MAX || scalars > UINT16_MAX) return unexpected("counts below 65536");
      constructor.referenceCount = static_cast<uint16_t>(references);
      constructor.scalarCount = static_cast<uint16_t>(scalars);
    }
    type.constructors.push_back(std::move(constructor));
  }
  program_.types.push_back(std::move(type));
  return success();
}

}  // namespace baton::bytecode

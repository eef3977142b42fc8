// Types and dims.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/limits.h"
#include "compiler/frontend/parser_impl.h"
#include "compiler/ir/type_walk.h"

namespace baton::frontend {

namespace {

/// Whether the symbol stands in the arguments of a data type, or in an array.
bool isInsideData(ir::TypeRef root, DimSymbol symbol) {
  std::vector<std::pair<ir::TypeRef, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [type, isInside] = stack.back();
    stack.pop_back();
    if (type->isTensor()) {
      std::vector<DimSymbol> used;
      for (const DimExpr& dim : type->dims()) dim.collectSymbols(used);
      if (isInside && std::find(used.begin(), used.end(), symbol) != used.end()) return true;
    }
    for (ir::TypeRef element : type->elements())
      stack.emplace_back(element, isInside || type->isAdt() || type->isArray());
  }
  return false;
}

}  // namespace

bool Parser::checkNewDims(size_t firstDeclared, std::span<const ir::TypeRef> types) {
  std::vector<DimSymbol> plain;
  for (ir::TypeRef type : types)
    if (type != nullptr) ir::forEachBoundSymbol(type, [&](DimSymbol symbol) { plain.push_back(symbol); });
  bool ok = true;
  for (size_t i = firstDeclared; i < declaredDims_.size(); ++i) {
    auto [symbol, location] = declaredDims_[i];
    if (std::find(plain.begin(), plain.end(), symbol) != plain.end()) continue;
    const bool isInData = std::any_of(types.begin(), types.end(), [&](ir::TypeRef type) {
      return type != nullptr && isInsideData(type, symbol);
    });
    error(location, fmt::format("dim {} is never a whole extent of a tensor{}, so nothing gives it a value",
                                shown(module_.dimSymbols.name(symbol)),
                                isInData ? " outside of data, which may be empty" : ""));
    ok = false;
  }
  return ok;
}

std::optional<ir::TypeRef> Parser::parseNamingType() {
  mayNameDims_ = true;
  std::optional<ir::TypeRef> type = parseType();
  mayNameDims_ = false;
  return type;
}

std::optional<ir::TypeRef> Parser::parseAnnotation() {
  size_t firstDeclared = declaredDims_.size();
  std::optional<ir::TypeRef> type = parseNamingType();
  if (type && !checkNewDims(firstDeclared, {{*type}})) type.reset();
  return type;
}

std::optional<ir::TypeRef> Parser::parseType() {
  const Token start = peek();
  if (!enterNesting(start.location)) return std::nullopt;
  struct Leave {
    Parser& parser;
    ~Leave() { parser.leaveNesting(); }
  } leave{*this};

  auto parseList = [&](TokenKind close, std::vector<ir::TypeRef>& types) {
    while (!at(close)) {
      std::optional<ir::TypeRef> type = parseType();
      if (!type) return false;
      types.push_back(*type);
      if (!accept(TokenKind::Comma)) break;
    }
    return expect(close, "after a list of types");
  };

  if (accept(TokenKind::LeftParen)) {
    std::vector<ir::TypeRef> elements;
    bool isTuple = at(TokenKind::RightParen);
    while (!at(TokenKind::RightParen)) {
      std::optional<ir::TypeRef> type = parseType();
      if (!type) return std::nullopt;
      elements.push_back(*type);
      if (!accept(TokenKind::Comma)) break;
      isTuple = true;
    }
    if (!expect(TokenKind::RightParen, "after the types of a tuple")) return std::nullopt;
    return isTuple ? module_.types.tuple(std::move(elements)) : elements[0];
  }
  if (start.kind != TokenKind::Identifier) {
    error(start.location, fmt::format("expected a type, found {}", found()));
    return std::nullopt;
  }
  if (atMeta()) return parseMetaType();
  take();
  std::string_view name = start.text;
  if (name == "Tensor") return parseTensorType();
  if (name == "_") return module_.types.hole();
  if (name == "fn") {
    std::vector<ir::TypeRef> params;
    if (at(TokenKind::LeftBracket)) {
      error(peek().location, "a function type has no type parameters: a value has one type");
      return std::nullopt;
    }
    if (!expect(TokenKind::LeftParen, "after 'fn'") || !parseList(TokenKind::RightParen, params))
      return std::nullopt;
    if (!expect(TokenKind::Arrow, "before the result of a function type")) return std::nullopt;
    std::optional<ir::TypeRef> result = parseType();
    if (!result) return std::nullopt;
    return module_.types.function(std::move(params), *result);
  }
  if (name == "ref" && accept(TokenKind::LeftParen)) {
    std::optional<ir::TypeRef> pointee = parseType();
    if (!pointee || !expect(TokenKind::RightParen, "after the type of a cell")) return std::nullopt;
    return module_.types.ref(*pointee);
  }
  if (name == "Array" && accept(TokenKind::LeftBracket)) {
    std::optional<ir::TypeRef> element = parseType();
    if (!element || !expect(TokenKind::RightBracket, "after the type of an array's elements"))
      return std::nullopt;
    return module_.types.array(*element);
  }
  auto definition = reader_.names.typeDefs.find(std::string(name));
  const auto unknown = [&] {
    error(start.location, fmt::format("unknown type {}{}", shown(name), hintFor(NameKind::Type, name)));
    return std::nullopt;
  };
  std::vector<ir::TypeRef> arguments;
  bool hasArguments = accept(TokenKind::LeftBracket);
  if (hasArguments && definition == reader_.names.typeDefs.end()) return unknown();
  if (hasArguments && !parseList(TokenKind::RightBracket, arguments)) return std::nullopt;
  if (!hasArguments) {
    if (std::optional<ir::TypeVarId> var = typeVars_.find(name)) return module_.types.variable(*var);
    if (std::optional<DType> dtype = parseDType(name); dtype && dtypeName(*dtype) == name)
      return module_.types.scalar(*dtype);
  }
  if (definition == reader_.names.typeDefs.end()) return unknown();
  size_t expected = module_.typeDef(definition->second).generics.size();
  if (arguments.size() != expected) {
    error(start.location, fmt::format("type {} takes {}, found {}", shown(name),
                                      countOf(expected, "argument"), arguments.size()));
    return std::nullopt;
  }
  return module_.types.adt(definition->second, std::move(arguments));
}

// After "Tensor": "[(dim, ...), dtype]".
std::optional<ir::TypeRef> Parser::parseTensorType() {
  if (!expect(TokenKind::LeftBracket, "after 'Tensor'") ||
      !expect(TokenKind::LeftParen, "before the extents of a tensor type"))
    return std::nullopt;
  std::vector<DimExpr> dims;
  while (!at(TokenKind::RightParen)) {
    if (accept(TokenKind::Question)) {
      dims.push_back(DimExpr::symbol(ir::kAnyDim));
    } else if (atMeta()) {
      std::optional<DimExpr> dim = parseMetaDim();
      if (!dim) return std::nullopt;
      dims.push_back(std::move(*dim));
    } else {
      const Token place = peek();
      std::optional<DimExpr> dim = parseDim();
      if (!dim) return std::nullopt;
      if (dim->asConstant().value_or(0) < 0) {
        error(place.location, fmt::format("extent {} is negative", *dim->asConstant()));
        return std::nullopt;
      }
      dims.push_back(std::move(*dim));
    }
    if (!accept(TokenKind::Comma)) break;
  }
  if (!expect(TokenKind::RightParen, "after the extents of a tensor type") ||
      !expect(TokenKind::Comma, "before the dtype of a tensor type"))
    return std::nullopt;
  if (dims.size() > static_cast<size_t>(kMaxRank)) {
    error(peek().location, fmt::format("a tensor has rank {}; expected {} at most", dims.size(), kMaxRank));
    return std::nullopt;
  }
  const Token name = peek();
  std::optional<DType> dtype = parseDType(name.text);
  if (name.kind != TokenKind::Identifier || !dtype) {
    const bool isName = name.kind == TokenKind::Identifier;
    error(name.location, fmt::format("expected a dtype, found {}{}", found(),
                                     isName ? hintFor(NameKind::Type, name.text) : std::string()));
    return std::nullopt;
  }
  take();
  if (!expect(TokenKind::RightBracket, "after the dtype of a tensor type")) return std::nullopt;
  return module_.types.tensor(*dtype, std::move(dims));
}

std::optional<DimExpr> Parser::parseDim(int minPrecedence) {
  if (!enterNesting(peek().location)) return std::nullopt;
  std::optional<DimExpr> lhs = parseDimPrimary();
  while (lhs) {
    TokenKind kind = peek().kind;
    int precedence = kind == TokenKind::Star                               ? 2
                     : kind == TokenKind::Plus || kind == TokenKind::Minus ? 1
                                                                           : 0;
    if (precedence <= minPrecedence) break;
    take();
    std::optional<DimExpr> rhs = parseDim(precedence);
    if (!rhs) {
      lhs.reset();
    } else if (kind == TokenKind::Star) {
      lhs = *lhs * *rhs;
    } else if (kind == TokenKind::Plus) {
      lhs = *lhs + *rhs;
    } else {
      lhs = *lhs - *rhs;
    }
  }
  leaveNesting();
  return lhs;
}

std::optional<DimExpr> Parser::parseDimPrimary() {
  const Token token = peek();
  bool isNegative = accept(TokenKind::Minus);
  if (at(TokenKind::Integer)) {
    const Token& number = take();
    int64_t value = 0;
    std::string digits(isNegative ? "-" : "");
    digits += number.text;
    auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failure != std::errc()) {
      error(number.location, fmt::format("{} does not fit 64 bits", shown(digits)));
      return std::nullopt;
    }
    return DimExpr::constant(value);
  }
  if (isNegative) {
    std::optional<DimExpr> operand = parseDim(2);
    if (!operand) return std::nullopt;
    return DimExpr::constant(0) - *operand;
  }
  if (accept(TokenKind::LeftParen)) {
    std::optional<DimExpr> inner = parseDim();
    if (!inner || !expect(TokenKind::RightParen, "in a dim expression")) return std::nullopt;
    return inner;
  }
  if (token.kind != TokenKind::Identifier) {
    error(token.location, fmt::format("expected a dim, found {}{}", found(), hintForAttribute()));
    return std::nullopt;
  }
  take();
  if (at(TokenKind::LeftParen)) {
    std::optional<DimOp> op;
    for (DimOp candidate : {DimOp::FloorDiv, DimOp::FloorMod, DimOp::CeilDiv, DimOp::Min, DimOp::Max})
      if (token.text == dimOpName(candidate)) op = candidate;
    if (!op) {
      error(token.location, fmt::format("unknown function {} in a dim: floor_div, floor_mod, ceil_div, min "
                                        "and max are known",
                                        shown(token.text)));
      return std::nullopt;
    }
    take();
    std::optional<DimExpr> a = parseDim();
    if (!a || !expect(TokenKind::Comma, "between the operands")) return std::nullopt;
    std::optional<DimExpr> b = parseDim();
    if (!b || !expect(TokenKind::RightParen, "after the operands")) return std::nullopt;
    bool divides = *op == DimOp::FloorDiv || *op == DimOp::FloorMod || *op == DimOp::CeilDiv;
    if (divides && b->asConstant() == 0) {
      error(token.location, fmt::format("{} by zero", token.text));
      return std::nullopt;
    }
    return DimExpr::opaque(*op, *a, *b);
  }
  if (std::optional<DimSymbol> symbol = dims_.find(token.text)) return DimExpr::symbol(*symbol);
  if (!mayNameDims_) {
    error(token.location, fmt::format("unknown dim {}", shown(token.text)));
    return std::nullopt;
  }
  DimSymbol symbol = module_.dimSymbols.add(std::string(token.text));
  dims_.declare(token.text, symbol);
  declaredDims_.emplace_back(symbol, token.location);
  return DimExpr::symbol(symbol);
}

}  // namespace baton::frontend

// Sequences, bindings and operators, emitted while they are read.
#include <algorithm>
#include <charconv>
#include <iterator>

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"

namespace baton::frontend {
namespace {

struct BinaryOperator {
  TokenKind token;
  int precedence;
  std::string_view op;
};

constexpr BinaryOperator kBinaryOperators[] = {
    {TokenKind::Star, 12, "multiply"},   {TokenKind::Slash, 12, "divide"},
    {TokenKind::Plus, 10, "add"},        {TokenKind::Minus, 10, "subtract"},
    {TokenKind::Less, 8, "less"},        {TokenKind::LessEqual, 8, "less_equal"},
    {TokenKind::Greater, 8, "greater"},  {TokenKind::GreaterEqual, 8, "greater_equal"},
    {TokenKind::EqualEqual, 7, "equal"}, {TokenKind::NotEqual, 7, "not_equal"},
};

const BinaryOperator* findBinary(TokenKind kind) {
  for (const BinaryOperator& candidate : kBinaryOperators)
    if (candidate.token == kind) return &candidate;
  return nullptr;
}

}  // namespace

std::optional<ir::Atom> Parser::parseSequence(bool inParentheses) {
  bool failed = false;
  for (;;) {
    size_t start = next_;
    bool isStatement = true;
    bool isGraphBinding = false;
    bool ok;
    std::optional<ir::Atom> value;
    const SourceLocation place = peek().location;
    if (atKeyword("let")) {
      ok = parseLet();
    } else if (isBareExpression_ && atKeyword("free_var")) {
      ok = parseFreeVariable();
    } else if ((at(TokenKind::Graph) || at(TokenKind::Local)) && peek(1).kind == TokenKind::Equal) {
      isGraphBinding = true;
      ok = parseGraphBinding();
    } else {
      isStatement = false;
      value = parseExpression();
      ok = value.has_value();
    }
    if (ok && !isStatement && !at(TokenKind::Semicolon)) {
      // In braces a value must be the last thing; in parentheses the caller looks.
      const bool isEnd = at(TokenKind::RightBrace) || (isBareExpression_ && at(TokenKind::End));
      if (inParentheses || isEnd) {
        valueLocation_ = place;
        return failed ? std::nullopt : value;
      }
      error(peek().location, fmt::format("expected ';' or '}}' after an expression, found {}", found()));
      ok = false;
    } else if (ok) {
      if (isGraphBinding && inParentheses && at(TokenKind::RightParen))
        error(peek().location, "expected ';' after a binding, found ')': '==' compares");
      else if (expect(TokenKind::Semicolon, "after a binding"))
        continue;
      ok = false;
    }
    failed = true;
    if (inParentheses) return std::nullopt;
    skipStatement();
    if (!accept(TokenKind::Semicolon) || at(TokenKind::RightBrace)) return std::nullopt;
    if (next_ == start) return std::nullopt;
  }
}

bool Parser::parseLet() {
  take();
  const SourceLocation location = peek().location;
  bool isWildcard = acceptKeyword("_");
  if (!isWildcard && !at(TokenKind::Local)) return expect(TokenKind::Local, "after 'let'");
  const std::string name = isWildcard ? std::string() : takeName();
  ir::TypeRef declared = nullptr;
  bool ok = skipDevice();
  if (ok && accept(TokenKind::Colon)) {
    std::optional<ir::TypeRef> type = parseAnnotation();
    ok = type.has_value();
    if (ok) declared = *type;
  }
  ok = ok && expect(TokenKind::Equal, "in a let binding");
  std::optional<ir::VarId> var;
  if (ok && atKeyword("fn")) {
    // The function may call itself by the name that it gets.
    ir::VarInfo info;
    info.name = name;
    info.declaredType = declared;
    info.location = location;
    ir::VarId self = function_->addVar(std::move(info));
    if (parseLambda(self, name)) var = self;
  } else if (ok) {
    std::optional<ir::Atom> value = parseExpression();
    if (value && isWildcard) return true;
    if (value) var = nameValue(*value, name, declared, location);
  }
  // After an error the name stands for something, or every use would be reported.
  if (!isWildcard) vars_.declare(name, var ? *var : poison().var());
  return var.has_value();
}

// Names with dots, "%conv1.weight", are told from fields of tuples by where they stand: here they
// are declared, and what is declared is found before its parts are. Nothing may stand between.
std::string Parser::takeName() {
  const Token* last = &take();
  std::string name(last->text);
  const auto follows = [&](const Token& token) {
    return token.location.file == last->location.file &&
           token.offset == last->offset + last->text.size() + (last->kind == TokenKind::Local);
  };
  while (atNamePart() && follows(peek())) {
    take();
    last = &take();
    name += '.';
    name += last->text;
    hasDottedNames_ = true;
  }
  return name;
}

bool Parser::atNamePart() const {
  return at(TokenKind::Dot) && (peek(1).kind == TokenKind::Identifier || peek(1).kind == TokenKind::Integer);
}

std::string Parser::takeKnownName() {
  if (!hasDottedNames_ || !at(TokenKind::Local)) return std::string(take().text);
  const size_t start = next_;
  size_t best = start + 1;
  std::string name(take().text);
  std::string found = name;
  while (atNamePart()) {
    take();
    name += '.';
    name += take().text;
    if (!vars_.find(name)) continue;
    found = name;
    best = next_;
  }
  next_ = best;
  return found;
}

// free_var %x: type; before an expression that stands alone: a parameter.
bool Parser::parseFreeVariable() {
  take();
  std::optional<ir::VarInfo> info = parseParamName("after 'free_var'", freeVariables_);
  if (!info) return false;
  bool ok = true;
  if (accept(TokenKind::Colon)) {
    std::optional<ir::TypeRef> type = parseNamingType();
    ok = type.has_value();
    if (ok) info->declaredType = *type;
  }
  function_->params.push_back(declareVar(std::move(*info)));
  return ok;
}

// %0 = e; or, with a name, as with let but for functions that call themselves.
bool Parser::parseGraphBinding() {
  const Token name = take();
  take();  // '='
  std::optional<ir::Atom> value = parseExpression();
  if (value && name.kind == TokenKind::Local)
    value = nameValue(*value, name.text, nullptr, name.location);
  else if (value && !value->isVar())
    value = emit(ir::AtomRhs{*value}, name.location);
  vars_.declare(name.text, value ? value->var() : poison().var());
  return value.has_value();
}

ir::Atom Parser::callBinary(std::string_view name, ir::Atom a, SourceLocation placeA, ir::Atom b,
                            SourceLocation placeB, SourceLocation location) {
  const ops::OpDef* op = reader_.registry.find(name);
  if (op == nullptr) {
    error(location, fmt::format("operator {} is not available", name));
    return poison();
  }
  std::optional<ir::Atom> result = callOperator(*op, {a, b}, {placeA, placeB}, {}, location);
  return result ? *result : poison();
}

std::optional<ir::Atom> Parser::parseExpression(int minPrecedence) {
  SourceLocation place = peek().location;
  if (!enterNesting(place)) return std::nullopt;
  std::optional<ir::Atom> lhs = atControl() ? parseControl() : parseUnary();
  while (lhs) {
    const BinaryOperator* binary = findBinary(peek().kind);
    if (binary == nullptr || binary->precedence <= minPrecedence) break;
    SourceLocation location = take().location;
    SourceLocation rhsPlace = peek().location;
    std::optional<ir::Atom> rhs = parseExpression(binary->precedence);
    lhs = rhs ? std::optional(callBinary(binary->op, *lhs, place, *rhs, rhsPlace, location)) : std::nullopt;
  }
  leaveNesting();
  return lhs;
}

std::optional<ir::Atom> Parser::parseUnary() {
  if (!at(TokenKind::Minus)) return parsePostfix();
  SourceLocation location = peek().location;
  size_t count = 0;
  while (accept(TokenKind::Minus)) ++count;
  std::optional<ir::Atom> value;
  bool isNumber =
      at(TokenKind::Integer) || at(TokenKind::Float) ||
      (at(TokenKind::Identifier) && (peek().text.starts_with("inf") || peek().text.starts_with("nan")) &&
       peek(1).kind != TokenKind::LeftParen && peek(1).kind != TokenKind::Dot);
  if (isNumber) {
    value = parseLiteral(true);
    --count;
  } else {
    value = parsePostfix();
  }
  for (; value && count > 0; --count) {
    const ops::OpDef* negative = reader_.registry.find("negative");
    if (negative == nullptr) {
      error(location, "operator negative is not available");
      return std::nullopt;
    }
    value = callOperator(*negative, {*value}, {location}, {}, location);
  }
  return value;
}

std::optional<ir::Atom> Parser::parsePostfix() {
  std::optional<Callee> callee = parsePrimary();
  return callee ? parsePostfixOf(std::move(*callee)) : std::nullopt;
}

bool Parser::atControl() const {
  return at(TokenKind::LeftBrace) || atKeyword("if") || atKeyword("match") || atKeyword("fn");
}

// What programs nest deepest takes the shortest way down the stack.
std::optional<ir::Atom> Parser::parseControl() {
  const SourceLocation location = peek().location;
  std::optional<ir::Atom> value;
  if (at(TokenKind::LeftBrace))
    value = parseBracedValue();
  else if (atKeyword("if"))
    value = parseIf();
  else if (atKeyword("match"))
    value = parseMatch();
  else
    value = parseLambda(ir::kNoVar, {});
  if (!value || !(at(TokenKind::LeftParen) || at(TokenKind::Dot))) return value;
  return parsePostfixOf({*value, location});
}

std::optional<ir::Atom> Parser::parsePostfixOf(Callee callee) {
  for (;;) {
    std::optional<ir::Atom> value;
    if (at(TokenKind::LeftParen)) {
      value = parseCall(callee);
    } else if (at(TokenKind::Dot)) {
      std::optional<ir::Atom> tuple = valueOf(callee);
      // "1." and not "%x.0."
      const ir::Atom* atom = std::get_if<ir::Atom>(&callee.what);
      const bool isNumber =
          atom != nullptr && atom->isConstant() && stream_.tokens[next_ - 1].kind == TokenKind::Integer;
      take();
      const Token field = peek();
      uint32_t index = 0;
      if (field.kind != TokenKind::Integer && isNumber) {
        error(field.location, fmt::format("expected a digit after the point of a number, found {}", found()));
        return std::nullopt;
      }
      if (!expect(TokenKind::Integer, "after '.'")) return std::nullopt;
      auto [end, failure] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), index);
      if (failure != std::errc()) {
        error(field.location, fmt::format("field index {} is too large", shown(field.text)));
        return std::nullopt;
      }
      if (tuple) value = emit(ir::Project{*tuple, index}, callee.location);
    } else {
      return valueOf(callee);
    }
    if (!value) return std::nullopt;
    callee.what = *value;
  }
}

std::optional<Parser::Callee> Parser::parsePrimary() {
  const Token token = peek();
  auto of = [&](std::optional<ir::Atom> atom) -> std::optional<Callee> {
    if (!atom) return std::nullopt;
    return Callee{*atom, token.location};
  };
  switch (token.kind) {
    case TokenKind::Local:
    case TokenKind::Graph: {
      const std::string name = takeKnownName();
      std::optional<ir::VarId> var = vars_.find(name);
      if (!var) {
        error(token.location, fmt::format("%{} is not defined here{}", shown(name), hintForVariable(name)));
        return of(poison());
      }
      if (joins_.contains(*var)) return Callee{Join{*var}, token.location};
      return of(ir::Atom(*var));
    }
    case TokenKind::Global: {
      take();
      auto global = reader_.names.globals.find(std::string(token.text));
      if (global == reader_.names.globals.end()) {
        error(token.location,
              fmt::format("@{} is not defined{}", shown(token.text), hintFor(NameKind::Global, token.text)));
        return of(poison());
      }
      return of(std::visit([](auto id) { return ir::Atom(id); }, global->second));
    }
    case TokenKind::Integer:
    case TokenKind::Float: return of(parseLiteral(false));
    case TokenKind::LeftParen: return of(parseParenthesized());
    case TokenKind::LeftBrace: return of(parseControl());
    case TokenKind::Identifier: return parseIdentifier();
    default: break;
  }
  const auto hint = [&]() -> const char* {
    switch (token.kind) {
      case TokenKind::RightBrace: return isAfterBinding() ? ": a block ends with its value" : "";
      case TokenKind::LeftBracket:
      case TokenKind::String: return ": only attributes are lists or strings";
      case TokenKind::Dot:
        return peek(1).kind == TokenKind::Integer ? ": a number has a digit before its point" : "";
      default: return "";
    }
  };
  error(token.location, fmt::format("expected an expression, found {}{}", found(), hint()));
  return std::nullopt;
}

/// Whether a block begins here or a binding of it has just ended.
bool Parser::isAfterBinding() const {
  if (next_ == 0) return false;
  const TokenKind before = stream_.tokens[next_ - 1].kind;
  return before == TokenKind::Semicolon || before == TokenKind::LeftBrace;
}

std::optional<Parser::Callee> Parser::parseIdentifier() {
  const Token token = peek();
  std::string_view word = token.text;
  auto of = [&](std::optional<ir::Atom> atom) -> std::optional<Callee> {
    if (!atom) return std::nullopt;
    return Callee{*atom, token.location};
  };
  if (atControl()) return of(parseControl());
  if ((word == "ref" || word == "ref_read" || word == "ref_write") && peek(1).kind == TokenKind::LeftParen)
    return of(parseCells(word));
  if (word == "True" || word == "False") {
    take();
    return of(emitConstant(DType::Bool, word == "True" ? 1 : 0));
  }
  if (atMeta()) return of(parseMetaConstant());
  bool isCalled = peek(1).kind == TokenKind::LeftParen || peek(1).kind == TokenKind::Dot;
  if (!isCalled && (word.starts_with("inf") || word.starts_with("nan"))) return of(parseLiteral(false));
  auto constructor = reader_.names.constructors.find(std::string(word));
  if (constructor != reader_.names.constructors.end()) {
    take();
    return Callee{constructor->second, token.location};
  }
  if (const std::optional<ir::ArrayOperation> operation = ir::findArrayOperation(word)) {
    take();
    return Callee{*operation, token.location};
  }
  // An operator: "nn.dense" comes as three tokens.
  std::string name(take().text);
  while (at(TokenKind::Dot) && peek(1).kind == TokenKind::Identifier) {
    take();
    name += '.';
    name += take().text;
  }
  if (const ops::OpDef* op = reader_.registry.find(name)) return Callee{op, token.location};
  std::string hint = hintFor(NameKind::Constructor, name);
  // The same name as something else.
  std::string other;
  if (vars_.find(name))
    other = "%" + name;
  else if (reader_.names.globals.contains(name))
    other = "@" + name;
  else if (reader_.registry.find("nn." + name) != nullptr)
    other = "nn." + name;
  else if (parseDType(name))
    other = "cast";
  if (!other.empty())
    hint = fmt::format("; did you mean {}?", shown(other));
  else if (dims_.find(name))
    hint = fmt::format(": {} is an extent; as numbers, shape_of gives the extents of a tensor", shown(name));
  if (hint.empty()) {
    NearestName nearest(name);
    for (const ops::OpDef* op : reader_.registry.all()) nearest.consider(op->name);
    for (const ir::ArrayOperationInfo& operation : ir::allArrayOperations()) nearest.consider(operation.name);
    hint = nearest.text();
  }
  error(token.location, fmt::format("unknown operator or constructor {}{}", shown(name), hint));
  return std::nullopt;
}

std::optional<ir::Atom> Parser::parseParenthesized() {
  SourceLocation location = take().location;
  std::vector<ir::Atom> elements;
  bool isTuple = at(TokenKind::RightParen);
  size_t varMark = vars_.enter();
  while (!at(TokenKind::RightParen)) {
    std::optional<ir::Atom> element = parseSequence(true);
    vars_.leave(varMark);
    if (!element) return std::nullopt;
    elements.push_back(*element);
    if (!accept(TokenKind::Comma)) break;
    isTuple = true;
  }
  if (!expect(TokenKind::RightParen, "after an expression in parentheses")) return std::nullopt;
  if (!isTuple) return elements[0];
  return emit(ir::MakeTuple{std::move(elements)}, location);
}

// A block whose bindings can stand in the surrounding one is dissolved: names are
// resolved already, so nothing is captured by accident.
std::optional<ir::Atom> Parser::parseBracedValue() {
  SourceLocation location = peek().location;
  const size_t first = function_->block(block_).bindings.size();
  const size_t joinCount = joins_.size();
  std::optional<ir::Atom> result = parseBraces();
  if (!result || joins_.size() == joinCount) return result;
  // Joins end where the block does that defines them.
  std::vector<ir::Binding>& outer = function_->block(block_).bindings;
  const auto begin = outer.begin() + static_cast<ptrdiff_t>(first);
  if (std::none_of(begin, outer.end(),
                   [&](const ir::Binding& binding) { return joins_.contains(binding.var); }))
    return result;
  ir::Block nested{
      {std::make_move_iterator(begin), std::make_move_iterator(outer.end())}, *result, valueLocation_};
  outer.erase(begin, outer.end());
  const ir::BlockId block = function_->addBlock();
  function_->block(block) = std::move(nested);
  return emit(ir::NestedBlock{block}, location);
}

}  // namespace baton::frontend

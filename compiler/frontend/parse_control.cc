// Branches, matches, functions and cells.
#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"

namespace baton::frontend {

// Reads to the closing brace even after an error, so that one bad statement costs one
// message.
std::optional<ir::Atom> Parser::parseBraces() {
  if (!expect(TokenKind::LeftBrace, "before a block")) return std::nullopt;
  size_t varMark = vars_.enter();
  size_t dimMark = dims_.enter();
  std::optional<ir::Atom> result = parseSequence(false);
  vars_.leave(varMark);
  dims_.leave(dimMark);
  if (!result) {
    while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
      skipStatement();
      accept(TokenKind::Semicolon);
    }
    accept(TokenKind::RightBrace);
    return std::nullopt;
  }
  if (!expect(TokenKind::RightBrace, "after a block")) return std::nullopt;
  return result;
}

bool Parser::parseBlock(ir::BlockId block) {
  ir::BlockId outer = block_;
  block_ = block;
  std::optional<ir::Atom> result = parseBraces();
  block_ = outer;
  if (!result) return false;
  function_->block(block).result = *result;
  function_->block(block).resultLocation = valueLocation_;
  return true;
}

std::optional<ir::Atom> Parser::parseIf() {
  SourceLocation location = take().location;
  if (!expect(TokenKind::LeftParen, "after 'if'")) return std::nullopt;
  SourceLocation place = peek().location;
  std::optional<ir::Atom> condition = parseSequence(true);
  if (!condition || !expect(TokenKind::RightParen, "after a condition")) return std::nullopt;
  ir::BlockId thenBlock = function_->addBlock();
  ir::BlockId elseBlock = function_->addBlock();
  bool ok = parseBlock(thenBlock);
  if (!expectKeyword("else", "after the first branch")) return std::nullopt;
  if (atKeyword("if")) {
    // `else if` is a branch that holds one more `if`.
    ir::BlockId outer = block_;
    block_ = elseBlock;
    const SourceLocation start = peek().location;
    std::optional<ir::Atom> result;
    if (enterNesting(peek().location)) {
      result = parseIf();
      leaveNesting();
    }
    block_ = outer;
    if (result) function_->block(elseBlock).result = *result;
    function_->block(elseBlock).resultLocation = start;
    ok = result.has_value() && ok;
  } else {
    ok = parseBlock(elseBlock) && ok;
  }
  if (!ok) return std::nullopt;
  ir::VarId var = emit(ir::If{*condition, thenBlock, elseBlock}, location);
  function_->operandLocations[var] = {place};
  return var;
}

std::optional<ir::Atom> Parser::parseMatch() {
  SourceLocation location = take().location;
  ir::Match match;
  match.complete = !accept(TokenKind::Question);
  if (!expect(TokenKind::LeftParen, "after 'match'")) return std::nullopt;
  SourceLocation place = peek().location;
  std::optional<ir::Atom> scrutinee = parseSequence(true);
  if (!scrutinee || !expect(TokenKind::RightParen, "after the value to match")) return std::nullopt;
  match.scrutinee = *scrutinee;
  if (!expect(TokenKind::LeftBrace, "before the clauses of a match")) return std::nullopt;
  bool ok = true;
  while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
    size_t varMark = vars_.enter();
    size_t dimMark = dims_.enter();
    patternVars_.clear();
    std::optional<ir::PatternId> pattern = parsePattern();
    bool clauseOk = pattern && expect(TokenKind::FatArrow, "after a pattern");
    if (clauseOk) {
      ir::BlockId block = function_->addBlock();
      if (at(TokenKind::LeftBrace)) {
        clauseOk = parseBlock(block);
      } else {
        ir::BlockId outer = block_;
        block_ = block;
        function_->block(block).resultLocation = peek().location;
        std::optional<ir::Atom> result = parseExpression();
        block_ = outer;
        clauseOk = result.has_value();
        if (result) function_->block(block).result = *result;
      }
      if (clauseOk) match.clauses.push_back({*pattern, block});
    }
    vars_.leave(varMark);
    dims_.leave(dimMark);
    ok = ok && clauseOk;
    if (!clauseOk) {
      // Where the next clause starts cannot be told: on to the end of the match.
      while (!at(TokenKind::RightBrace) && !at(TokenKind::End)) {
        skipStatement();
        accept(TokenKind::Semicolon);
      }
      break;
    }
    if (!accept(TokenKind::Comma)) break;
  }
  if (!expect(TokenKind::RightBrace, "after the clauses of a match") || !ok) return std::nullopt;
  ir::VarId var = emit(std::move(match), location);
  function_->operandLocations[var] = {place};
  return var;
}

std::optional<ir::PatternId> Parser::parsePattern() {
  const Token token = peek();
  if (!enterNesting(token.location)) return std::nullopt;
  struct Leave {
    Parser& parser;
    ~Leave() { parser.leaveNesting(); }
  } leave{*this};
  ir::Pattern pattern;
  pattern.location = token.location;
  auto parseChildren = [&]() {
    while (!at(TokenKind::RightParen)) {
      std::optional<ir::PatternId> child = parsePattern();
      if (!child) return false;
      pattern.children.push_back(*child);
      if (!accept(TokenKind::Comma)) break;
    }
    return expect(TokenKind::RightParen, "after patterns");
  };
  if (token.kind == TokenKind::Local) {
    ir::VarInfo info;
    info.name = takeName();
    info.location = token.location;
    isNewName("variable %", info.name, info.location, patternVars_);
    if (accept(TokenKind::Colon)) {
      std::optional<ir::TypeRef> type = parseAnnotation();
      if (!type) return std::nullopt;
      info.declaredType = *type;
    }
    pattern.kind = ir::Pattern::Kind::Var;
    pattern.var = declareVar(std::move(info));
  } else if (acceptKeyword("_")) {
    pattern.kind = ir::Pattern::Kind::Wildcard;
  } else if (accept(TokenKind::LeftParen)) {
    pattern.kind = ir::Pattern::Kind::Tuple;
    if (!parseChildren()) return std::nullopt;
  } else if (token.kind == TokenKind::Identifier) {
    take();
    auto constructor = reader_.names.constructors.find(std::string(token.text));
    if (constructor == reader_.names.constructors.end()) {
      std::string hint = hintFor(NameKind::Constructor, token.text);
      const bool isLower = token.text[0] >= 'a' && token.text[0] <= 'z';
      if (hint.empty() && isLower && !at(TokenKind::LeftParen))
        hint = fmt::format("; a variable is written %{}", shown(token.text));
      error(token.location, fmt::format("unknown constructor {}{}", shown(token.text), hint));
      return std::nullopt;
    }
    pattern.kind = ir::Pattern::Kind::Constructor;
    pattern.constructor = constructor->second;
    if (accept(TokenKind::LeftParen) && !parseChildren()) return std::nullopt;
    const ir::Constructor& definition = module_.constructor(pattern.constructor);
    if (definition.fields.size() != pattern.children.size()) {
      error(token.location, fmt::format("constructor {} has {}, found {}", shown(definition.name),
                                        countOf(definition.fields.size(), "field"),
                                        countOf(pattern.children.size(), "pattern")));
      return std::nullopt;
    }
  } else {
    const bool isNumber = at(TokenKind::Integer) || at(TokenKind::Float) || at(TokenKind::Minus);
    error(token.location, fmt::format("expected a pattern, found {}{}", found(),
                                      isNumber ? ": compare numbers with 'if'" : ""));
    return std::nullopt;
  }
  return function_->addPattern(std::move(pattern));
}

/// Reports a name that stands twice among those that are bound together; `places` has those before it.
bool Parser::isNewName(std::string_view what, const std::string& name, SourceLocation location,
                       NamePlaces& places) {
  const auto [other, isNew] = places.try_emplace(name, location);
  if (isNew) return true;
  error(location, fmt::format("{}{} is defined twice", what, shown(name)));
  diagnostics_.note(other->second, "the other one");
  return false;
}

// %x ['{' virtual_device=... '}'] of a parameter; `places` has those before it.
std::optional<ir::VarInfo> Parser::parseParamName(std::string_view where, NamePlaces& places) {
  ir::VarInfo info;
  info.location = peek().location;
  if (!at(TokenKind::Local)) {
    expect(TokenKind::Local, where);
    return std::nullopt;
  }
  info.name = takeName();
  if (!isNewName("parameter %", info.name, info.location, places)) return std::nullopt;
  if (!skipDevice()) return std::nullopt;
  return info;
}

// '(' %x ['{' virtual_device=... '}'] [: type] {, ...} {, attribute = value} ')'
bool Parser::parseParams(std::vector<ir::VarId>& params, ir::Attrs& attrs) {
  if (!expect(TokenKind::LeftParen, "before parameters")) return false;
  size_t firstDim = declaredDims_.size();
  std::vector<ir::TypeRef> types;
  NamePlaces places;
  bool isGood = true;
  while (!at(TokenKind::RightParen)) {
    if (atAttribute()) {
      if (!parseFunctionAttribute(attrs)) return false;
    } else {
      std::optional<ir::VarInfo> info = parseParamName("as a parameter", places);
      if (!info) return false;
      if (accept(TokenKind::Colon)) {
        const size_t start = next_;
        std::optional<ir::TypeRef> type = parseNamingType();
        if (type) {
          info->declaredType = *type;
          types.push_back(*type);
        } else {
          // The parameter is there, whatever its type is.
          isGood = false;
          next_ = start;
          skipType();
        }
      }
      if (!skipDevice()) return false;
      params.push_back(declareVar(std::move(*info)));
    }
    if (!accept(TokenKind::Comma)) break;
  }
  if (!isGood && !at(TokenKind::RightParen)) return false;  // reported already
  return expect(TokenKind::RightParen, "after parameters") && isGood && checkNewDims(firstDim, types);
}

// A device that whoever wrote the text gave to a variable is not ours to follow.
bool Parser::skipDevice() {
  if (!at(TokenKind::LeftBrace) || skipBraces()) return true;
  return expect(TokenKind::RightBrace, "after the device of a variable");
}

/// From an opening brace to the one that closes it; false when there is none of either.
bool Parser::skipBraces() {
  if (!at(TokenKind::LeftBrace)) return false;
  int depth = 0;
  while (!at(TokenKind::End)) {
    const TokenKind kind = take().kind;
    if (kind == TokenKind::LeftBrace) ++depth;
    if (kind == TokenKind::RightBrace && --depth == 0) return true;
  }
  return false;
}

// To the comma or parenthesis after a type that could not be read.
void Parser::skipType() {
  int depth = 0;
  while (!at(TokenKind::End) && !at(TokenKind::LeftBrace)) {
    const TokenKind kind = peek().kind;
    if (kind == TokenKind::LeftParen || kind == TokenKind::LeftBracket) ++depth;
    if (depth == 0 && (kind == TokenKind::Comma || kind == TokenKind::RightParen)) return;
    if (kind == TokenKind::RightParen || kind == TokenKind::RightBracket) --depth;
    take();
  }
}

std::optional<ir::Atom> Parser::parseLambda(ir::VarId self, std::string_view selfName) {
  SourceLocation location = take().location;
  ir::Lambda lambda;
  size_t typeMark = typeVars_.enter();
  size_t dimMark = dims_.enter();
  size_t varMark = vars_.enter();
  if (self != ir::kNoVar) vars_.declare(selfName, self);
  bool ok = !at(TokenKind::LeftBracket) || parseGenerics(lambda.generics);
  ok = ok && parseParams(lambda.params, lambda.attrs);
  if (ok && lambda.attrs.find("join") != nullptr) {
    lambda.attrs.erase("join");
    lambda.isJoin = true;
    if (self == ir::kNoVar) {
      error(location, "a join must be bound by 'let'");
      ok = false;
    } else {
      joins_.insert(self);
    }
  }
  if (ok && accept(TokenKind::Arrow)) {
    std::optional<ir::TypeRef> result = parseType();
    ok = result.has_value();
    if (ok) lambda.declaredResult = *result;
  }
  lambda.body = function_->addBlock();
  if (self != ir::kNoVar) openLambdas_.insert(self);
  if (ok) ok = parseBlock(lambda.body);
  if (self != ir::kNoVar) openLambdas_.erase(self);
  lambda.isLoop = loops_.contains(self);
  vars_.leave(varMark);
  dims_.leave(dimMark);
  typeVars_.leave(typeMark);
  if (!ok) return std::nullopt;
  if (self == ir::kNoVar) return emit(std::move(lambda), location);
  function_->block(block_).bindings.push_back({self, std::move(lambda), location, {}});
  return ir::Atom(self);
}

std::optional<ir::Atom> Parser::parseCells(std::string_view keyword) {
  SourceLocation location = take().location;
  Arguments arguments;
  if (!parseArguments(nullptr, arguments)) return std::nullopt;
  auto& [args, places, attrs] = arguments;
  size_t expected = keyword == "ref_write" ? 2 : 1;
  if (args.size() != expected) {
    error(location,
          fmt::format("{} takes {}, found {}", keyword, countOf(expected, "argument"), args.size()));
    return std::nullopt;
  }
  ir::VarId var;
  if (keyword == "ref")
    var = emit(ir::MakeRef{args[0]}, location);
  else if (keyword == "ref_read")
    var = emit(ir::ReadRef{args[0]}, location);
  else
    var = emit(ir::WriteRef{args[0], args[1]}, location);
  function_->operandLocations[var] = std::move(places);
  return var;
}

}  // namespace baton::frontend

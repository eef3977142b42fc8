// Definitions: functions, types, weights, imports.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"

namespace baton::frontend {

// Where an item starts is decided by two tokens that cannot stand next to each other
// anywhere else, so that an error in one item leaves the others intact.
void Parser::scanItems() {
  const std::vector<Token>& tokens = stream_.tokens;
  auto isWord = [&](size_t i, std::string_view word) {
    return tokens[i].kind == TokenKind::Identifier && tokens[i].text == word;
  };
  // The text of one function or expression, as printers give it, stands alone.
  if (isWord(0, "fn")) {
    items_.push_back({ItemKind::Lambda, 0, tokens.size() - 1, "main", 1, {}, {}, {}});
    return;
  }
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    TokenKind after = tokens[i + 1].kind;
    std::optional<ItemKind> kind;
    size_t keyword = i;
    if (isWord(i, "def") && after == TokenKind::Global) {
      kind = ItemKind::Function;
    } else if (isWord(i, "param") && after == TokenKind::Global) {
      kind = ItemKind::Param;
    } else if (isWord(i, "import") && after == TokenKind::String) {
      kind = ItemKind::Import;
      imports_.emplace_back(std::string(tokens[i + 1].text), tokens[i + 1].location);
    } else if (isWord(i, "type") && after == TokenKind::Identifier) {
      kind = ItemKind::Type;
    } else if (isWord(i, "extern") && isWord(i + 1, "type")) {
      kind = ItemKind::ExternType;
      ++i;
    }
    if (!kind) continue;
    if (!items_.empty()) items_.back().end = keyword;
    const size_t name = keyword + (*kind == ItemKind::ExternType ? 2 : 1);
    items_.push_back(
        {*kind, keyword, tokens.size() - 1, std::string(tokens[name].text), name + 1, {}, {}, {}});
  }
  if (items_.empty() && tokens.size() > 1 && isExpressionStart()) {
    items_.push_back({ItemKind::Expression, 0, tokens.size() - 1, "main", 0, {}, {}, {}});
  } else if (tokens.size() > 1 && (items_.empty() || items_[0].token != 0)) {
    reportNoDefinition();
  }
}

/// What stands where a definition should: one of its keywords lacks what goes with it, or there is none.
void Parser::reportNoDefinition() {
  static constexpr std::pair<std::string_view, std::string_view> kNext[] = {
      {"def", "a name with '@'"},
      {"param", "a name with '@'"},
      {"type", "a name"},
      {"extern", "'type'"},
      {"import", "a module in double quotes"},
  };
  for (const auto& [keyword, next] : kNext)
    if (atKeyword(keyword))
      return error(peek(1).location,
                   fmt::format("expected {} after '{}', found {}", next, keyword, found(1)));
  const char* hint = at(TokenKind::Hash) ? ": comments begin with '//'" : "";
  error(peek().location,
        fmt::format("expected 'def', 'type', 'extern', 'param' or 'import' at the start of a definition, "
                    "found {}{}",
                    found(), hint));
}

/// Whether the text begins like an expression. Words do when they are keywords or are called.
bool Parser::isExpressionStart() const {
  const Token& first = stream_.tokens[0];
  const TokenKind after = stream_.tokens[1].kind;
  static constexpr std::string_view kWords[] = {"let", "if", "match", "free_var", "True", "False", "meta"};
  switch (first.kind) {
    case TokenKind::Identifier:
      return after == TokenKind::LeftParen || after == TokenKind::Dot ||
             std::find(std::begin(kWords), std::end(kWords), first.text) != std::end(kWords);
    case TokenKind::Local:
    case TokenKind::Graph:
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::Minus:
    case TokenKind::LeftParen:
    case TokenKind::LeftBrace: return true;
    default: return false;
  }
}

std::string Parser::docOf(size_t token) const {
  for (const DocComment& doc : stream_.docs)
    if (doc.token == token) return doc.text;
  return {};
}

SourceLocation Parser::locationOf(const GlobalName& name) const {
  const ir::GlobalId* function = std::get_if<ir::GlobalId>(&name);
  return function == nullptr ? SourceLocation() : module_.function(*function).location;
}

void Parser::declareItems() {
  for (Item& item : items_) {
    const Token& name = stream_.tokens[item.rest == 0 ? 0 : item.rest - 1];
    const std::string& text = item.name;
    switch (item.kind) {
      case ItemKind::Import: break;
      case ItemKind::Lambda:
      case ItemKind::Expression:
      case ItemKind::Function: {
        ir::GlobalId id(static_cast<uint32_t>(module_.functions.size()));
        auto [known, isNew] = reader_.names.globals.emplace(text, id);
        if (!isNew) {
          reportTwice("@" + shown(text), locationOf(known->second), name.location);
          break;
        }
        item.function = id;
        ir::Function function;
        function.name = text;
        function.location = name.location;
        module_.functions.push_back(std::move(function));
        reader_.isLibraryFunction.push_back(isLibrary_);
        break;
      }
      case ItemKind::Param: {
        ir::ConstantId id(static_cast<uint32_t>(module_.constants.size()));
        auto [known, isNew] = reader_.names.globals.emplace(text, id);
        if (!isNew) {
          reportTwice("@" + shown(text), locationOf(known->second), name.location);
          break;
        }
        item.constant = id;
        ir::Constant constant;
        constant.name = text;
        module_.constants.push_back(std::move(constant));
        break;
      }
      case ItemKind::Type:
      case ItemKind::ExternType: {
        ir::TypeDefId id(static_cast<uint32_t>(module_.typeDefs.size()));
        if (text == "Array") {
          error(name.location, "Array is a type of the language and cannot be defined");
          break;
        }
        auto [known, isNew] = reader_.names.typeDefs.emplace(text, id);
        if (!isNew) {
          reportTwice("type " + shown(text), module_.typeDef(known->second).location, name.location);
          break;
        }
        item.type = id;
        ir::TypeDef definition;
        definition.name = text;
        definition.location = name.location;
        definition.isExtern = item.kind == ItemKind::ExternType;
        definition.doc = docOf(item.token);
        // The number of generics must be known before any type is parsed.
        next_ = item.rest;
        end_ = item.end;
        size_t mark = typeVars_.enter();
        if (at(TokenKind::LeftBracket)) parseGenerics(definition.generics);
        typeVars_.leave(mark);
        module_.typeDefs.push_back(std::move(definition));
        break;
      }
    }
  }
}

// Both rounds leave an item at its last token; anything after it is reported once.
void Parser::parseTypeItems() {
  for (const Item& item : items_)
    if (item.type) parseTypeItem(item);
}

void Parser::parseCodeItems() {
  for (const Item& item : items_) {
    next_ = item.token;
    end_ = item.end;
    endToken_ = stream_.tokens[item.end];
    endToken_.kind = TokenKind::End;
    size_t errorsBefore = diagnostics_.errorCount();
    if (item.function) {
      parseFunctionItem(item);
    } else if (item.constant) {
      parseParamItem(item);
    } else if (item.kind == ItemKind::Import) {
      next_ = item.rest;
      accept(TokenKind::Semicolon);
    } else {
      continue;
    }
    if (!at(TokenKind::End) && diagnostics_.errorCount() == errorsBefore) reportNoDefinition();
  }
}

bool Parser::parseGenerics(std::vector<ir::TypeVarId>& generics) {
  if (!expect(TokenKind::LeftBracket, "before type parameters")) return false;
  NamePlaces places;
  while (!at(TokenKind::RightBracket)) {
    const Token name = peek();
    if (!expect(TokenKind::Identifier, "in the list of type parameters")) return false;
    isNewName("type parameter ", std::string(name.text), name.location, places);
    ir::TypeVarId var = module_.addTypeVar(std::string(name.text));
    generics.push_back(var);
    typeVars_.declare(name.text, var);
    if (!accept(TokenKind::Comma)) break;
  }
  return expect(TokenKind::RightBracket, "after type parameters");
}

void Parser::parseTypeItem(const Item& item) {
  next_ = item.rest;
  end_ = item.end;
  endToken_ = stream_.tokens[item.end];
  endToken_.kind = TokenKind::End;
  if (item.kind == ItemKind::ExternType) {
    accept(TokenKind::Semicolon);
    return;
  }
  std::vector<ir::TypeVarId> generics = module_.typeDef(*item.type).generics;
  std::vector<ir::Constructor> constructors;
  size_t mark = typeVars_.enter();
  // The parameters were declared in the first round.
  if (accept(TokenKind::LeftBracket)) {
    for (ir::TypeVarId generic : generics) typeVars_.declare(module_.typeVarNames[generic.value()], generic);
    while (!at(TokenKind::RightBracket) && !at(TokenKind::End)) take();
    accept(TokenKind::RightBracket);
  }
  if (expect(TokenKind::LeftBrace, "before the constructors of a type")) {
    while (at(TokenKind::Identifier)) {
      ir::Constructor constructor;
      const Token name = take();
      constructor.name = std::string(name.text);
      constructor.location = name.location;
      bool ok = true;
      if (accept(TokenKind::LeftParen)) {
        while (ok && !at(TokenKind::RightParen)) {
          std::optional<ir::TypeRef> field = parseType();
          ok = field.has_value();
          if (ok) constructor.fields.push_back(*field);
          if (!accept(TokenKind::Comma)) break;
        }
        ok = ok && expect(TokenKind::RightParen, "after the fields of a constructor");
      }
      if (!ok) {
        while (!at(TokenKind::Comma) && !at(TokenKind::RightBrace) && !at(TokenKind::End)) take();
      }
      ir::ConstructorRef ref{*item.type, static_cast<uint32_t>(constructors.size())};
      auto [known, isNew] = reader_.names.constructors.emplace(constructor.name, ref);
      if (!isNew) {
        const std::vector<ir::Constructor>& others = module_.typeDef(known->second.definition).constructors;
        // A type gets its constructors when all of them are read.
        const bool isOwn = known->second.definition == *item.type;
        reportTwice("constructor " + shown(constructor.name),
                    (isOwn ? constructors : others)[known->second.tag].location, name.location);
      }
      constructors.push_back(std::move(constructor));
      if (!accept(TokenKind::Comma)) break;
    }
    if (expect(TokenKind::RightBrace, "after the constructors of a type")) {
      accept(TokenKind::Semicolon);
      if (!at(TokenKind::End)) reportNoDefinition();
    }
  }
  typeVars_.leave(mark);
  module_.typeDefs[item.type->value()].constructors = std::move(constructors);
}

void Parser::parseFunctionItem(const Item& item) {
  ir::Function function;
  function.name = item.name;
  function.location = module_.function(*item.function).location;
  function.doc = docOf(item.token);
  next_ = item.rest;
  function_ = &function;
  joins_.clear();
  loops_.clear();
  openLambdas_.clear();
  declaredDims_.clear();
  nesting_ = 0;
  size_t typeMark = typeVars_.enter();
  size_t dimMark = dims_.enter();
  size_t varMark = vars_.enter();

  if (item.kind == ItemKind::Expression) {
    parseBareExpression();
  } else {
    parseFunctionText();
  }
  vars_.leave(varMark);
  dims_.leave(dimMark);
  typeVars_.leave(typeMark);
  function_ = nullptr;
  module_.functions[item.function->value()] = std::move(function);
}

// The statements of an expression that stands alone, to the end of the text.
void Parser::parseBareExpression() {
  ir::Function& function = *function_;
  function.body = function.addBlock();
  block_ = function.body;
  isBareExpression_ = true;
  if (std::optional<ir::Atom> result = parseSequence(false)) function.block(function.body).result = *result;
  isBareExpression_ = false;
  function.block(function.body).resultLocation = valueLocation_;
  for (ir::VarId param : function.params) function.entryNames.push_back(function.var(param).name);
}

// What follows the name: type parameters, parameters, result, constraints, body.
void Parser::parseFunctionText() {
  ir::Function& function = *function_;
  bool ok = !at(TokenKind::LeftBracket) || parseGenerics(function.generics);
  if (ok && at(TokenKind::Equal)) {
    error(peek().location, "functions that are not written in the language are not supported");
    next_ = end_;
    return;
  }
  ok = ok && parseParams(function.params, function.attrs);
  if (ok) {
    const size_t firstOfResult = declaredDims_.size();
    for (ir::VarId param : function.params) function.entryNames.push_back(function.var(param).name);
    if (accept(TokenKind::Arrow)) {
      // A name that only the result has stands for an extent that the body decides.
      std::optional<ir::TypeRef> result = parseNamingType();
      ok = result.has_value();
      if (ok) function.declaredResult = *result;
    }
    if (ok && acceptKeyword("where")) ok = parseWhere(function.where, firstOfResult);
  }
  // After an error in the signature the body is still worth reading.
  while (!ok && !at(TokenKind::LeftBrace) && !at(TokenKind::End)) take();
  if (ok || at(TokenKind::LeftBrace)) {
    function.body = function.addBlock();
    parseBlock(function.body);
    accept(TokenKind::Semicolon);
  }
}

// `firstOfResult`: from here on declared dims are those that only the result has, which nobody knows
// when the constraints are checked.
bool Parser::parseWhere(std::vector<DimConstraint>& where, size_t firstOfResult) {
  const auto check = [&](const DimExpr& dim, SourceLocation place) {
    std::vector<DimSymbol> symbols;
    dim.collectSymbols(symbols);
    for (size_t i = firstOfResult; i < declaredDims_.size(); ++i) {
      const DimSymbol symbol = declaredDims_[i].first;
      if (std::find(symbols.begin(), symbols.end(), symbol) == symbols.end()) continue;
      error(place, fmt::format("dim {} is one of the result only: constraints are checked at the call",
                               shown(module_.dimSymbols.name(symbol))));
      return false;
    }
    return true;
  };
  do {
    const SourceLocation lhsPlace = peek().location;
    std::optional<DimExpr> lhs = parseDim();
    if (!lhs || !check(*lhs, lhsPlace)) return false;
    std::optional<Relation> relation;
    switch (peek().kind) {
      case TokenKind::EqualEqual: relation = Relation::Eq; break;
      case TokenKind::NotEqual: relation = Relation::Ne; break;
      case TokenKind::Less: relation = Relation::Lt; break;
      case TokenKind::LessEqual: relation = Relation::Le; break;
      case TokenKind::Greater: relation = Relation::Gt; break;
      case TokenKind::GreaterEqual: relation = Relation::Ge; break;
      default: break;
    }
    if (!relation) {
      error(peek().location, fmt::format("expected a comparison in a constraint, found {}", found()));
      return false;
    }
    take();
    const SourceLocation rhsPlace = peek().location;
    std::optional<DimExpr> rhs = parseDim();
    if (!rhs || !check(*rhs, rhsPlace)) return false;
    where.push_back({std::move(*lhs), *relation, std::move(*rhs)});
  } while (accept(TokenKind::Comma));
  return true;
}

// param @w : Tensor[(512, 2048), float32] = "encoder.w"
void Parser::parseParamItem(const Item& item) {
  next_ = item.rest;
  if (!expect(TokenKind::Colon, "before the type of a weight")) return;
  SourceLocation place = peek().location;
  std::optional<ir::TypeRef> type = parseType();
  if (!type) return;
  if (!(*type)->isTensor() || !(*type)->hasStaticDims()) {
    error(place,
          fmt::format("the type of weight @{} must be a tensor whose extents are numbers", shown(item.name)));
    return;
  }
  ir::Constant& constant = module_.constants[item.constant->value()];
  constant.location = place;
  constant.dtype = (*type)->dtype();
  for (const DimExpr& dim : (*type)->dims()) constant.shape.push_back(*dim.asConstant());
  constant.externalKey = constant.name;
  if (accept(TokenKind::Equal)) {
    const Token key = peek();
    if (atKeyword("meta")) {
      // As printed for a weight that is bound already.
      std::optional<ir::Atom> value = parseMetaConstant();
      if (!value) return;
      ir::Constant& bound = module_.constants[item.constant->value()];
      const ir::Constant& data = module_.constant(value->constant());
      if (data.dtype != bound.dtype || data.shape != bound.shape) {
        error(key.location, fmt::format("the tensor does not have the type of weight @{}", shown(item.name)));
        return;
      }
      bound.bytes = data.bytes;
      return;
    }
    if (!expect(TokenKind::String, "as the key of a weight")) return;
    constant.externalKey = unescaped(key.text);
  }
  accept(TokenKind::Semicolon);
}

}  // namespace baton::frontend

// Tokens of the parser, emission of bindings, and the order in which files are read.
#include "compiler/frontend/parser.h"

#include <deque>

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"
#include "compiler/prelude/prelude.h"

namespace baton::frontend {

Parser::Parser(TokenStream stream, uint32_t file, bool isLibrary, ProgramReader& reader)
    : stream_(std::move(stream)),
      file_(file),
      isLibrary_(isLibrary),
      reader_(reader),
      module_(reader.module),
      diagnostics_(reader.diagnostics) {
  end_ = stream_.tokens.size() - 1;
  endToken_ = stream_.tokens.back();
  scanItems();
}

const Token& Parser::peek(size_t ahead) const {
  return next_ + ahead < end_ ? stream_.tokens[next_ + ahead] : endToken_;
}

bool Parser::atKeyword(std::string_view word, size_t ahead) const {
  const Token& token = peek(ahead);
  return token.kind == TokenKind::Identifier && token.text == word;
}

const Token& Parser::take() {
  const Token& token = peek();
  if (next_ < end_) ++next_;
  return token;
}

bool Parser::accept(TokenKind kind) {
  if (!at(kind)) return false;
  take();
  return true;
}

bool Parser::acceptKeyword(std::string_view word) {
  if (!atKeyword(word)) return false;
  take();
  return true;
}

std::string Parser::found(size_t ahead) const {
  const Token& token = peek(ahead);
  switch (token.kind) {
    case TokenKind::Local:
    case TokenKind::Graph: return fmt::format("%{}", shown(token.text));
    case TokenKind::Global: return fmt::format("@{}", shown(token.text));
    case TokenKind::String: return fmt::format("\"{}\"", shown(token.text));
    case TokenKind::Identifier:
    case TokenKind::Integer:
    case TokenKind::Float: return fmt::format("'{}'", shown(token.text));
    case TokenKind::End:
      if (end_ + 1 < stream_.tokens.size()) return "the next definition";
      [[fallthrough]];
    default: return tokenKindName(token.kind);
  }
}

bool Parser::expect(TokenKind kind, std::string_view where) {
  if (accept(kind)) return true;
  error(peek().location, fmt::format("expected {} {}, found {}", tokenKindName(kind), where, found()));
  return false;
}

bool Parser::expectKeyword(std::string_view word, std::string_view where) {
  if (acceptKeyword(word)) return true;
  error(peek().location, fmt::format("expected '{}' {}, found {}", word, where, found()));
  return false;
}

void Parser::error(SourceLocation location, std::string message, std::string detail) {
  // What a clash does to a library's definitions is no news.
  if (isLibrary_ && reader_.hasLibraryClash) return;
  diagnostics_.error(location, std::move(message), std::move(detail));
}

namespace {

/// What a name stands for where values are written ("f32"), or in another language.
std::optional<DType> dtypeMeant(std::string_view name) {
  static constexpr std::pair<std::string_view, DType> kForeign[] = {
      {"float", DType::F32}, {"double", DType::F64}, {"half", DType::F16},
      {"fp32", DType::F32},  {"fp64", DType::F64},   {"fp16", DType::F16},
      {"int", DType::I32},   {"long", DType::I64},   {"byte", DType::U8}};
  for (const auto& [foreign, dtype] : kForeign)
    if (foreign == name) return dtype;
  return parseDType(name);
}

void considerDTypes(NearestName& nearest, std::string_view name) {
  for (int type = 0; type < kDTypeCount; ++type) nearest.consider(dtypeName(static_cast<DType>(type)));
  if (const std::optional<DType> dtype = dtypeMeant(name)) nearest.take(dtypeName(*dtype));
}

}  // namespace

std::string Parser::hintForDType(std::string_view name) {
  NearestName nearest(name);
  considerDTypes(nearest, name);
  return nearest.text();
}

std::string Parser::hintFor(NameKind kind, std::string_view name) const {
  if (diagnostics_.isFull()) return {};
  if (!reader_.names.imports.contains("prelude") && isInPrelude(kind, name))
    return "; add import \"prelude\", which defines it";
  NearestName nearest(name);
  switch (kind) {
    case NameKind::Global:
      for (const auto& [known, global] : reader_.names.globals) nearest.consider(known);
      return nearest.text("@");
    case NameKind::Type:
      for (const auto& [known, definition] : reader_.names.typeDefs) nearest.consider(known);
      nearest.consider("Tensor");
      considerDTypes(nearest, name);
      return nearest.text();
    case NameKind::Constructor:
      for (const auto& [known, constructor] : reader_.names.constructors) nearest.consider(known);
      return nearest.text();
  }
  return {};
}

std::string Parser::hintForVariable(std::string_view name) const {
  if (diagnostics_.isFull()) return {};
  for (size_t slash = name.find('/'); slash != std::string_view::npos; slash = name.find('/', slash + 1))
    if (vars_.find(name.substr(0, slash)))
      return "; '/' belongs to the name: a division has blanks around it";
  NearestName nearest(name);
  vars_.forEachName([&](const std::string& known) { nearest.consider(known); });
  return nearest.text("%");
}

void Parser::reportTwice(const std::string& what, SourceLocation first, SourceLocation second) {
  if (isLibrary_ && first.isKnown()) {
    diagnostics_.error(first, what + " is defined by the prelude, which is imported, as well");
    diagnostics_.note(second, "the other definition");
    reader_.hasLibraryClash = true;
    return;
  }
  error(second, what + " is defined twice");
  if (first.isKnown()) diagnostics_.note(first, "the other definition");
}

bool Parser::enterNesting(SourceLocation location) {
  if (nesting_ >= reader_.options.maxNesting) {
    error(location, fmt::format("nested deeper than {} levels", reader_.options.maxNesting));
    return false;
  }
  if (stack_.isNear()) {
    error(location,
          fmt::format("nested {} levels deep, which is all that the stack of this thread holds", nesting_));
    return false;
  }
  ++nesting_;
  return true;
}

// To the ';' that ends the statement or the '}' that ends its block. Parentheses are not
// counted: in text that is wrong they need not match.
void Parser::skipStatement() {
  int depth = 0;
  while (!at(TokenKind::End)) {
    TokenKind kind = peek().kind;
    if (kind == TokenKind::LeftBrace) ++depth;
    if (kind == TokenKind::RightBrace && depth-- == 0) return;
    if (kind == TokenKind::Semicolon && depth == 0) return;
    take();
  }
}

ir::VarId Parser::emit(ir::Rhs rhs, SourceLocation location) {
  ir::VarInfo info;
  info.location = location;
  ir::VarId var = function_->addVar(std::move(info));
  function_->block(block_).bindings.push_back({var, std::move(rhs), location, {}});
  return var;
}

ir::Atom Parser::emitConstant(DType dtype, uint64_t bits) {
  // Scalars of at most 32 bits or small value are shared; the key holds type and bits.
  if (bits >> 56 != 0) return module_.addScalar(dtype, bits);
  uint64_t key = bits | static_cast<uint64_t>(dtype) << 56;
  auto [entry, isNew] = reader_.scalars.try_emplace(key);
  if (isNew) entry->second = module_.addScalar(dtype, bits);
  return entry->second;
}

ir::VarId Parser::nameValue(ir::Atom value, std::string_view name, ir::TypeRef declared,
                            SourceLocation location) {
  std::vector<ir::Binding>& bindings = function_->block(block_).bindings;
  bool isLast = value.isVar() && !bindings.empty() && bindings.back().var == value.var();
  ir::VarId var = isLast ? value.var() : ir::kNoVar;
  if (!isLast || !function_->var(var).name.empty() || function_->var(var).declaredType != nullptr)
    var = emit(ir::AtomRhs{value}, location);
  function_->var(var).name = std::string(name);
  function_->var(var).declaredType = declared;
  return var;
}

ir::VarId Parser::declareVar(ir::VarInfo info) {
  const ir::VarId var = function_->addVar(std::move(info));
  vars_.declare(function_->var(var).name, var);
  return var;
}

ir::Atom Parser::poison() { return function_->addVar({}); }

void ProgramReader::read(std::string name, std::string text) {
  struct Source {
    std::string name;
    std::string text;
    bool isLibrary;
  };
  std::deque<Source> sources;  // stable: tokens point into the texts
  std::deque<Parser> parsers;
  sources.push_back({std::move(name), std::move(text), false});
  // Files are lexed in the order in which imports name them; each name once.
  for (size_t i = 0; i < sources.size(); ++i) {
    uint32_t file = static_cast<uint32_t>(module.sources.size());
    module.sources.push_back({sources[i].name, sources[i].text});
    parsers.emplace_back(lex(sources[i].text, file, diagnostics), file, sources[i].isLibrary, *this);
    for (const auto& [import, location] : parsers.back().imports()) {
      if (!names.imports.emplace(import, true).second) continue;
      std::optional<std::string_view> library = prelude::find(import);
      if (library)
        sources.push_back({fmt::format("<{}>", import), std::string(*library), true});
      else
        diagnostics.error(location,
                          fmt::format("unknown module \"{}\": \"prelude\" is known", shown(import)));
    }
  }
  for (Parser& parser : parsers) parser.declareItems();
  for (Parser& parser : parsers) parser.parseTypeItems();
  for (Parser& parser : parsers)
    if (!hasLibraryClash || !parser.isLibrary()) parser.parseCodeItems();
}

namespace {

Result<void> markExported(const ParseOptions& options, const ProgramReader& reader, ir::Module& module) {
  bool any = false;
  const auto exportNamed = [&](const std::string& name) {
    const std::optional<ir::GlobalId> id = module.findFunction(name);
    if (id) module.function(*id).isExported = true;
    any = any || id;
    return id.has_value();
  };
  exportNamed("main");
  for (const std::string& entry : options.entries) {
    if (exportNamed(entry)) continue;
    NearestName nearest(entry);
    for (const ir::Function& function : module.functions) nearest.consider(function.name);
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("no function @{} to export{}", shown(entry), nearest.text()));
  }
  if (any) return success();
  for (size_t i = 0; i < module.functions.size(); ++i)
    if (!reader.isLibraryFunction[i] && module.functions[i].generics.empty())
      module.functions[i].isExported = true;
  return success();
}

}  // namespace

Result<void> parseProgram(std::string name, std::string text, const ParseOptions& options,
                          const ops::OpRegistry& registry, ir::Module& module, Diagnostics& diagnostics) {
  ProgramReader reader(options, registry, module, diagnostics);
  reader.read(std::move(name), std::move(text));
  if (diagnostics.hasErrors()) return success();
  return markExported(options, reader, module);
}

}  // namespace baton::frontend

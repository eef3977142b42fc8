// The recursive-descent parser. Depth of nesting is bounded (ParseOptions::maxNesting);
// length is not: bindings, arguments and operator chains are loops. A function that
// fails has reported why and gives nothing; whoever parses statements or definitions
// skips to the next one and goes on.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "compiler/frontend/lexer.h"
#include "compiler/frontend/names.h"
#include "compiler/frontend/parser.h"
#include "compiler/frontend/stack_limit.h"
#include "compiler/frontend/suggest.h"
#include "compiler/ir/metadata.h"

namespace baton::frontend {

/// Imports and metadata that a file brings are asked for through this.
class ProgramReader;

/// An attribute value before its schema gives it a type.
struct RawAttr {
  /// Object: something of the metadata, or of an unknown form, that is no value of ours.
  enum class Kind : uint8_t { None, Bool, Int, Float, String, Name, List, Object };
  Kind kind = Kind::None;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text;  // String, Name, Object
  std::vector<RawAttr> list;
  SourceLocation location;
};

class Parser {
 public:
  Parser(TokenStream stream, uint32_t file, bool isLibrary, ProgramReader& reader);

  // The three rounds over a file; every file does a round before any does the next.
  void declareItems();    ///< names of types, functions and weights
  void parseTypeItems();  ///< fields of constructors
  void parseCodeItems();  ///< bodies of functions, and weights
  bool isLibrary() const { return isLibrary_; }
  /// Names in `import "..."`, with their places.
  std::vector<std::pair<std::string, SourceLocation>> imports() const { return imports_; }

 private:
  /// Lambda and Expression: texts of one function and of one expression, which become @main.
  enum class ItemKind : uint8_t { Function, Lambda, Expression, Type, ExternType, Param, Import };
  struct Item {
    ItemKind kind;
    size_t token;  // of its keyword
    size_t end;    // first token of the next item
    std::string name;
    size_t rest;  // first token after the name
    std::optional<ir::GlobalId> function;
    std::optional<ir::ConstantId> constant;
    std::optional<ir::TypeDefId> type;
  };
  /// What stands before an argument list.
  struct Join {
    ir::VarId var;
  };
  struct Callee {
    std::variant<ir::Atom, const ops::OpDef*, ir::ConstructorRef, ir::ArrayOperation, Join> what;
    SourceLocation location;
  };
  /// meta[kind][index]
  struct MetaReference {
    std::string kind;
    size_t index = 0;
    SourceLocation location;
    std::string text() const;
  };

  // Tokens.
  const Token& peek(size_t ahead = 0) const;
  bool at(TokenKind kind) const { return peek().kind == kind; }
  bool atKeyword(std::string_view word, size_t ahead = 0) const;
  const Token& take();
  bool accept(TokenKind kind);
  bool acceptKeyword(std::string_view word);
  bool expect(TokenKind kind, std::string_view where);
  bool expectKeyword(std::string_view word, std::string_view where);
  void error(SourceLocation location, std::string message, std::string detail = {});
  /// What to add to a message about a name that is not there.
  std::string hintFor(NameKind kind, std::string_view name) const;
  std::string hintForVariable(std::string_view name) const;
  static std::string hintForDType(std::string_view name);
  /// Two definitions of one name: the error is at the one that is the user's.
  void reportTwice(const std::string& what, SourceLocation first, SourceLocation second);
  std::string found(size_t ahead = 0) const;  ///< the next token, for messages
  void skipStatement();
  bool enterNesting(SourceLocation location);
  void leaveNesting() { --nesting_; }

  // Definitions (parse_items.cc).
  SourceLocation locationOf(const GlobalName& name) const;
  void scanItems();
  bool isExpressionStart() const;
  void reportNoDefinition();
  std::string docOf(size_t token) const;
  void parseTypeItem(const Item& item);
  void parseFunctionItem(const Item& item);
  void parseFunctionText();
  void parseBareExpression();
  void parseParamItem(const Item& item);
  bool parseGenerics(std::vector<ir::TypeVarId>& generics);
  bool parseWhere(std::vector<DimConstraint>& where, size_t firstOfResult);
  bool parseFreeVariable();

  // Types (parse_types.cc).
  std::optional<ir::TypeRef> parseType();
  /// A new name in an extent declares a symbol.
  std::optional<ir::TypeRef> parseNamingType();
  /// The type of a variable: new names in it declare dims, each bound by a plain extent.
  std::optional<ir::TypeRef> parseAnnotation();
  bool checkNewDims(size_t firstDeclared, std::span<const ir::TypeRef> types);
  std::optional<ir::TypeRef> parseTensorType();
  std::optional<DimExpr> parseDim(int minPrecedence = 0);
  std::optional<DimExpr> parseDimPrimary();

  // Expressions (parse_expressions.cc).
  std::optional<ir::Atom> parseSequence(bool inParentheses);
  bool parseLet();
  /// Of a local name: names that other systems give may contain dots.
  std::string takeName();
  std::string takeKnownName();
  bool atNamePart() const;  ///< a dot and what may follow it in a name
  bool parseGraphBinding();
  std::optional<ir::Atom> parseExpression(int minPrecedence = 0);
  std::optional<ir::Atom> parseUnary();
  std::optional<ir::Atom> parsePostfix();
  std::optional<ir::Atom> parsePostfixOf(Callee callee);
  bool atControl() const;
  std::optional<ir::Atom> parseControl();
  std::optional<Callee> parsePrimary();
  bool isAfterBinding() const;
  std::optional<Callee> parseIdentifier();
  std::optional<ir::Atom> parseParenthesized();
  std::optional<ir::Atom> parseBracedValue();
  std::optional<ir::Atom> parseLiteral(bool negative);
  /// What stands in the parentheses of a call.
  struct Arguments {
    std::vector<ir::Atom> values;
    std::vector<SourceLocation> places;
    ir::Attrs attrs;
  };
  /// `op`: the operator that has the attributes; null: there may be none.
  bool parseArguments(const ops::OpDef* op, Arguments& arguments);
  std::optional<ir::Atom> parseCall(const Callee& callee);
  ir::Atom callBinary(std::string_view name, ir::Atom a, SourceLocation placeA, ir::Atom b,
                      SourceLocation placeB, SourceLocation location);
  const std::vector<ir::Atom>* fieldsOf(ir::Atom tuple) const;
  void joinTuples(std::vector<ir::Atom>& args, std::vector<SourceLocation>& places, SourceLocation location);
  std::optional<ir::Atom> callOperator(const ops::OpDef& op, std::vector<ir::Atom> args,
                                       std::vector<SourceLocation> places, ir::Attrs attrs,
                                       SourceLocation location);
  std::optional<ir::Atom> valueOf(const Callee& callee);
  std::optional<ir::Atom> expandToLambda(size_t arity, const Callee& callee);

  // Control and functions (parse_control.cc).
  std::optional<ir::Atom> parseIf();
  std::optional<ir::Atom> parseMatch();
  std::optional<ir::PatternId> parsePattern();
  std::optional<ir::Atom> parseLambda(ir::VarId self, std::string_view selfName);
  using NamePlaces = std::unordered_map<std::string, SourceLocation>;  ///< by name
  bool isNewName(std::string_view what, const std::string& name, SourceLocation location, NamePlaces& places);
  std::optional<ir::VarInfo> parseParamName(std::string_view where, NamePlaces& places);
  bool parseParams(std::vector<ir::VarId>& params, ir::Attrs& attrs);
  void skipType();
  bool skipDevice();
  bool skipBraces();
  std::optional<ir::Atom> parseBraces();  ///< '{' sequence '}', its bindings into block_
  bool parseBlock(ir::BlockId block);     ///< the same into a block of its own
  std::optional<ir::Atom> parseCells(std::string_view keyword);

  // Attributes (parse_attributes.cc).
  std::optional<RawAttr> parseRawAttr();
  std::optional<RawAttr> parseRawValue();
  bool parseAttribute(const ops::OpDef& op, ir::Attrs& attrs);
  /// What to add where a value of the run stands in the attribute that is being read.
  const char* hintForAttribute() const;
  bool parseFunctionAttribute(ir::Attrs& attrs);
  /// Whether `name =` follows, where the name may have dots.
  bool atAttribute() const;
  std::string takeAttributeName();  ///< and the '='
  std::optional<std::vector<DimExpr>> parseDimList();
  std::optional<ir::AttrValue> convertAttr(const RawAttr& raw, const ops::AttrSpec& spec,
                                           std::string_view op);
  void refuseAttr(const RawAttr& raw, const ops::AttrSpec& spec, std::string_view op);
  bool completeAttrs(const ops::OpDef& op, ir::Attrs& attrs, SourceLocation location);

  // The metadata section (parse_meta.cc).
  bool atMeta() const { return atKeyword("meta") && peek(1).kind == TokenKind::LeftBracket; }
  std::optional<MetaReference> parseMetaReference();
  /// Reports when it is not there.
  const ir::MetadataNode* metaNode(const MetaReference& reference);
  std::optional<ir::Atom> parseMetaConstant();
  std::optional<RawAttr> parseMetaAttr();
  std::optional<RawAttr> rawOf(const ir::MetadataNode& node, SourceLocation location, size_t& budget);
  std::optional<RawAttr> rawField(const ir::MetadataNode& object, const std::string& name,
                                  const std::string& text, const ops::AttrSpec& spec,
                                  SourceLocation location);
  bool parseMetaAttributes(const ops::OpDef& op, ir::Attrs& attrs);
  std::optional<DimExpr> parseMetaDim();
  std::optional<DimExpr> dimAt(size_t position, SourceLocation location);
  std::optional<DimExpr> dimOf(size_t position, SourceLocation location, size_t& budget);
  std::optional<ir::TypeRef> parseMetaType();

  // Emission.
  ir::VarId emit(ir::Rhs rhs, SourceLocation location);
  ir::Atom emitConstant(DType dtype, uint64_t bits);
  /// Names the value: the last binding when it is an unnamed temporary, else an alias.
  ir::VarId nameValue(ir::Atom value, std::string_view name, ir::TypeRef declared, SourceLocation location);
  ir::VarId declareVar(ir::VarInfo info);  ///< as a name of the scope
  ir::Atom poison();

  TokenStream stream_;
  uint32_t file_;
  bool isLibrary_;  // of ours: its unused definitions are dropped
  ProgramReader& reader_;
  ir::Module& module_;
  Diagnostics& diagnostics_;
  std::vector<Item> items_;
  std::vector<std::pair<std::string, SourceLocation>> imports_;
  size_t next_ = 0;
  size_t end_ = 0;  // tokens from here on read as End: the current item ends
  Token endToken_;
  int nesting_ = 0;
  StackLimit stack_;
  bool isMetadataRead_ = false;  // when it is first asked for
  std::optional<ir::MetadataGraph> metadata_;
  std::unordered_map<size_t, ir::ConstantId> metaConstants_;  // by index

  // Of the function that is being parsed.
  ir::Function* function_ = nullptr;
  ir::BlockId block_ = ir::kNoBlock;
  ScopedNames<ir::VarId> vars_;
  ScopedNames<ir::TypeVarId> typeVars_;
  ScopedNames<DimSymbol> dims_;
  bool mayNameDims_ = false;  // a new name in a dim declares a symbol
  bool isInputToo_ = false;   // what the attribute that is being read says may be an input instead
  bool isBareExpression_ = false;
  NamePlaces freeVariables_;  // of the bare expression
  NamePlaces patternVars_;    // of the pattern that is being read
  bool hasDottedNames_ = false;
  SourceLocation valueLocation_;  // of the last value that ended a sequence
  std::vector<std::pair<DimSymbol, SourceLocation>> declaredDims_;
  std::unordered_set<ir::VarId> joins_;
  std::unordered_set<ir::VarId> loops_;  // joins that their own body calls
  std::unordered_set<ir::VarId> openLambdas_;
};

class ProgramReader {
 public:
  ProgramReader(const ParseOptions& options, const ops::OpRegistry& registry, ir::Module& module,
                Diagnostics& diagnostics)
      : options(options), registry(registry), module(module), diagnostics(diagnostics) {}

  void read(std::string name, std::string text);

  const ParseOptions& options;
  const ops::OpRegistry& registry;
  ir::Module& module;
  Diagnostics& diagnostics;
  ProgramNames names;
  bool hasLibraryClash = false;  ///< a user's definition has the name of a library's, which is now incomplete
  std::unordered_map<uint64_t, ir::ConstantId> scalars;  ///< literals, each once: see Parser::emitConstant
  std::vector<bool> isLibraryFunction;                   ///< by GlobalId
};

}  // namespace baton::frontend

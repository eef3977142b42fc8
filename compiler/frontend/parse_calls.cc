// Calls, and what can be called as a value.
#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"

namespace baton::frontend {

bool Parser::parseArguments(const ops::OpDef* op, Arguments& arguments) {
  take();  // '('
  // Attributes that a dump leaves at calls of functions say nothing about the result; one of them is
  // the kind of their object.
  std::optional<Token> foreignAttr;
  bool isDump = false;
  while (!at(TokenKind::RightParen)) {
    if (op == nullptr && atAttribute()) {
      if (!foreignAttr) foreignAttr = peek();
      if (takeAttributeName() == "attrs_type_key") isDump = true;
      if (!skipBraces() && !parseRawAttr()) return false;
    } else if (op != nullptr && atAttribute()) {
      if (!parseAttribute(*op, arguments.attrs)) return false;
    } else if (op != nullptr && atMeta() && atKeyword("attrs", 4)) {
      if (!parseMetaAttributes(*op, arguments.attrs)) return false;
    } else {
      arguments.places.push_back(peek().location);
      std::optional<ir::Atom> value = parseExpression();
      if (!value) return false;
      arguments.values.push_back(*value);
    }
    if (!accept(TokenKind::Comma)) break;
  }
  if (foreignAttr && !isDump) {
    error(foreignAttr->location,
          fmt::format("attribute {}: only operators have attributes", shown(foreignAttr->text)));
    return false;
  }
  return expect(TokenKind::RightParen, "after arguments");
}

std::optional<ir::Atom> Parser::parseCall(const Callee& callee) {
  const ops::OpDef* const* op = std::get_if<const ops::OpDef*>(&callee.what);
  Arguments arguments;
  if (!parseArguments(op == nullptr ? nullptr : *op, arguments)) return std::nullopt;
  auto& [args, places, attrs] = arguments;
  if (op != nullptr)
    return callOperator(**op, std::move(args), std::move(places), std::move(attrs), callee.location);

  ir::VarId result;
  if (const ir::ConstructorRef* constructor = std::get_if<ir::ConstructorRef>(&callee.what)) {
    const ir::Constructor& definition = module_.constructor(*constructor);
    if (definition.fields.size() != args.size()) {
      error(callee.location,
            fmt::format("constructor {} has {}, found {}", shown(definition.name),
                        countOf(definition.fields.size(), "field"), countOf(args.size(), "argument")));
      return std::nullopt;
    }
    result = emit(ir::Construct{*constructor, std::move(args)}, callee.location);
  } else if (const ir::ArrayOperation* operation = std::get_if<ir::ArrayOperation>(&callee.what)) {
    const ir::ArrayOperationInfo& info = ir::infoOf(*operation);
    if (info.operandCount != args.size()) {
      error(callee.location, fmt::format("{} takes {}, found {}", info.name,
                                         countOf(info.operandCount, "argument"), args.size()));
      return std::nullopt;
    }
    result = emit(ir::ArrayOp{*operation, std::move(args), {}}, callee.location);
  } else if (const Join* join = std::get_if<Join>(&callee.what)) {
    if (openLambdas_.contains(join->var)) loops_.insert(join->var);
    result = emit(ir::CallJoin{join->var, std::move(args)}, callee.location);
  } else {
    ir::Atom atom = std::get<ir::Atom>(callee.what);
    if (atom.isGlobal())
      result = emit(ir::CallGlobal{atom.global(), std::move(args)}, callee.location);
    else
      result = emit(ir::CallValue{atom, std::move(args)}, callee.location);
  }
  function_->operandLocations[result] = std::move(places);
  return result;
}

/// The fields of a tuple that the block makes; nothing of one that comes from elsewhere.
const std::vector<ir::Atom>* Parser::fieldsOf(ir::Atom tuple) const {
  const std::vector<ir::Binding>& bindings = function_->block(block_).bindings;
  for (size_t i = bindings.size(); i > 0 && tuple.isVar(); --i) {
    const ir::Binding& binding = bindings[i - 1];
    if (binding.var != tuple.var()) continue;
    if (const auto* alias = std::get_if<ir::AtomRhs>(&binding.rhs)) {
      tuple = alias->atom;
      continue;
    }
    const auto* made = std::get_if<ir::MakeTuple>(&binding.rhs);
    return made == nullptr ? nullptr : &made->elements;
  }
  return nullptr;
}

/// Dumps have qnn.concatenate(data, scales, zero points, scale, zero point), of which three are tuples that
/// the text makes. An operator has one list, the last of its inputs.
void Parser::joinTuples(std::vector<ir::Atom>& args, std::vector<SourceLocation>& places,
                        SourceLocation location) {
  std::vector<ir::Atom> joined;
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<ir::Atom>* fields = fieldsOf(args[i]);
    if (fields == nullptr) return;
    joined.insert(joined.end(), fields->begin(), fields->end());
  }
  args = {args[3], args[4], emit(ir::MakeTuple{std::move(joined)}, location)};
  places = {places[3], places[4], places[0]};
}

std::optional<ir::Atom> Parser::callOperator(const ops::OpDef& op, std::vector<ir::Atom> args,
                                             std::vector<SourceLocation> places, ir::Attrs attrs,
                                             SourceLocation location) {
  if (op.name == "qnn.concatenate" && args.size() == 5) joinTuples(args, places, location);
  size_t required = 0;
  for (const ops::InputSpec& input : op.inputs) required += input.isOptional ? 0 : 1;
  if (args.size() < required || args.size() > op.inputs.size()) {
    std::string expected = required == op.inputs.size()
                               ? countOf(required, "input")
                               : fmt::format("{} to {} inputs", required, op.inputs.size());
    if (!op.inputs.empty() && op.inputs.back().isList)
      expected += required == 1 ? ", a tuple of tensors" : ", the last a tuple of tensors";
    error(location, fmt::format("{} takes {}, found {}", op.name, expected, args.size()));
    return std::nullopt;
  }
  if (!completeAttrs(op, attrs, location)) return std::nullopt;
  ir::VarId var = emit(ir::CallOp{&op, std::move(attrs), std::move(args)}, location);
  function_->operandLocations[var] = std::move(places);
  return var;
}

std::optional<ir::Atom> Parser::valueOf(const Callee& callee) {
  if (const ir::Atom* atom = std::get_if<ir::Atom>(&callee.what)) return *atom;
  if (const Join* join = std::get_if<Join>(&callee.what)) {
    error(callee.location, fmt::format("%{} is a join: it can be called, not used as a value",
                                       shown(function_->var(join->var).name)));
    return std::nullopt;
  }
  if (const ir::ConstructorRef* constructor = std::get_if<ir::ConstructorRef>(&callee.what)) {
    size_t arity = module_.constructor(*constructor).fields.size();
    if (arity == 0) return emit(ir::Construct{*constructor, {}}, callee.location);
    return expandToLambda(arity, callee);
  }
  if (const ir::ArrayOperation* operation = std::get_if<ir::ArrayOperation>(&callee.what))
    return expandToLambda(ir::infoOf(*operation).operandCount, callee);
  const ops::OpDef& op = *std::get<const ops::OpDef*>(callee.what);
  size_t arity = 0;
  for (const ops::InputSpec& input : op.inputs) arity += input.isOptional ? 0 : 1;
  return expandToLambda(arity, callee);
}

// A constructor, an operator or an array operation as a value: fn (%a, %b) { C(%a, %b) }.
std::optional<ir::Atom> Parser::expandToLambda(size_t arity, const Callee& callee) {
  ir::Lambda lambda;
  lambda.body = function_->addBlock();
  for (size_t i = 0; i < arity; ++i) {
    ir::VarInfo info;
    info.name = fmt::format("a{}", i);
    info.location = callee.location;
    lambda.params.push_back(function_->addVar(std::move(info)));
  }
  std::vector<ir::Atom> args(lambda.params.begin(), lambda.params.end());
  std::vector<SourceLocation> places(arity, callee.location);
  ir::BlockId outer = block_;
  block_ = lambda.body;
  std::optional<ir::Atom> result;
  if (const ops::OpDef* const* op = std::get_if<const ops::OpDef*>(&callee.what))
    result = callOperator(**op, std::move(args), std::move(places), {}, callee.location);
  else if (const ir::ArrayOperation* operation = std::get_if<ir::ArrayOperation>(&callee.what))
    result = emit(ir::ArrayOp{*operation, std::move(args), {}}, callee.location);
  else
    result = emit(ir::Construct{std::get<ir::ConstructorRef>(callee.what), std::move(args)}, callee.location);
  block_ = outer;
  if (!result) return std::nullopt;
  function_->block(lambda.body).result = *result;
  return emit(std::move(lambda), callee.location);
}

}  // namespace baton::frontend

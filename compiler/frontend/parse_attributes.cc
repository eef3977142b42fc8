// Attributes of operator calls and functions, checked against the operator's schema.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"

namespace baton::frontend {
namespace {

std::string_view kindName(ops::AttrKind kind) {
  switch (kind) {
    case ops::AttrKind::Bool: return "True or False";
    case ops::AttrKind::Int: return "an integer";
    case ops::AttrKind::Float: return "a number";
    case ops::AttrKind::String: return "a string";
    case ops::AttrKind::DType: return "a dtype";
    case ops::AttrKind::IntList: return "a list of integers";
    case ops::AttrKind::FloatList: return "a list of numbers";
    case ops::AttrKind::DimList: return "a list of dims";
    case ops::AttrKind::IntOrIntList: return "an integer or a list of integers";
  }
  return "a value";
}

/// Attributes of any operator with a weight, where tuners note how they have laid it out; dumps have
/// them where they have not, too.
bool isOfTuners(std::string_view name) {
  return name == "auto_scheduler_rewritten_layout" || name == "meta_schedule_original_shape";
}

bool isNothing(const RawAttr& raw) {
  using Kind = RawAttr::Kind;
  return raw.kind == Kind::None || (raw.kind == Kind::String && raw.text.empty()) ||
         (raw.kind == Kind::List && raw.list.empty());
}

/// What was written, as messages show it.
std::string shownValue(const RawAttr& raw) {
  switch (raw.kind) {
    case RawAttr::Kind::None: return "None";
    case RawAttr::Kind::Bool: return raw.boolean ? "True" : "False";
    case RawAttr::Kind::Int: return fmt::format("{}", raw.integer);
    case RawAttr::Kind::Float: return fmt::format("{}", raw.real);
    case RawAttr::Kind::String: return fmt::format("\"{}\"", shown(raw.text));
    case RawAttr::Kind::Name: return fmt::format("'{}'", shown(raw.text));
    case RawAttr::Kind::List:
      return raw.list.empty() ? "[]" : "a list that begins with " + shownValue(raw.list[0]);
    case RawAttr::Kind::Object: return shown(raw.text);
  }
  return "a value";
}

template <class T>
bool flatten(const RawAttr& raw, std::vector<T>& out) {
  // Lists of lists (pad_width=[[0, 0], [1, 1]]) are stored in order.
  std::vector<const RawAttr*> stack{&raw};
  while (!stack.empty()) {
    const RawAttr* item = stack.back();
    stack.pop_back();
    if (item->kind == RawAttr::Kind::List) {
      for (auto it = item->list.rbegin(); it != item->list.rend(); ++it) stack.push_back(&*it);
    } else if (item->kind == RawAttr::Kind::Int) {
      out.push_back(static_cast<T>(item->integer));
    } else if (std::is_same_v<T, double> && item->kind == RawAttr::Kind::Float) {
      out.push_back(static_cast<T>(item->real));
    } else {
      return false;
    }
  }
  return true;
}

/// Whether the operator takes what the attribute says as an input, too: "newshape" and the new shape.
bool hasInputFor(const ops::OpDef& op, const ops::AttrSpec& spec) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&](const ops::InputSpec& input) {
    std::string name(input.name);
    std::erase(name, ' ');
    return input.isOptional && (name == spec.name || op.attrs.size() == 1);
  });
}

}  // namespace

const char* Parser::hintForAttribute() const {
  const bool isOfTheRun = at(TokenKind::Local) || at(TokenKind::Graph) || at(TokenKind::Global);
  return isInputToo_ && isOfTheRun ? "; give it as an input" : "";
}

std::optional<RawAttr> Parser::parseRawAttr() {
  if (!enterNesting(peek().location)) return std::nullopt;
  std::optional<RawAttr> raw = parseRawValue();
  leaveNesting();
  return raw;
}

std::optional<RawAttr> Parser::parseRawValue() {
  RawAttr raw;
  raw.location = peek().location;
  if (atMeta()) return parseMetaAttr();
  bool negative = accept(TokenKind::Minus);
  const Token value = peek();
  if (value.kind == TokenKind::Integer) {
    take();
    std::string digits = (negative ? "-" : "") + std::string(value.text);
    auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), raw.integer);
    if (failure != std::errc()) {
      error(value.location, fmt::format("{} does not fit 64 bits", shown(digits)));
      return std::nullopt;
    }
    raw.kind = RawAttr::Kind::Int;
    return raw;
  }
  bool isSpecial = value.kind == TokenKind::Identifier && (value.text == "inf" || value.text == "nan" ||
                                                           value.text == "inff" || value.text == "nanf");
  if (value.kind == TokenKind::Float || isSpecial) {
    take();
    raw.kind = RawAttr::Kind::Float;
    if (isSpecial) {
      raw.real = value.text.starts_with("inf") ? std::numeric_limits<double>::infinity()
                                               : std::numeric_limits<double>::quiet_NaN();
    } else {
      auto [end, failure] =
          std::from_chars(value.text.data(), value.text.data() + value.text.size(), raw.real);
      if (failure != std::errc()) {
        error(value.location, fmt::format("{} is out of the range of float64", shown(value.text)));
        return std::nullopt;
      }
      // The attribute is the number that was meant: "0.1f" is the float.
      if (value.suffix == DType::F32) raw.real = static_cast<float>(raw.real);
    }
    if (negative) raw.real = -raw.real;
    return raw;
  }
  if (negative) {
    error(value.location, fmt::format("expected a number after '-', found {}", found()));
    return std::nullopt;
  }
  if (value.kind == TokenKind::String) {
    take();
    raw.kind = RawAttr::Kind::String;
    raw.text = unescaped(value.text);
    return raw;
  }
  if (accept(TokenKind::LeftBracket) || accept(TokenKind::LeftParen)) {
    TokenKind close = value.kind == TokenKind::LeftBracket ? TokenKind::RightBracket : TokenKind::RightParen;
    raw.kind = RawAttr::Kind::List;
    while (!at(close)) {
      std::optional<RawAttr> element = parseRawAttr();
      if (!element) return std::nullopt;
      raw.list.push_back(std::move(*element));
      if (!accept(TokenKind::Comma)) break;
    }
    if (!expect(close, "after a list")) return std::nullopt;
    return raw;
  }
  if (value.kind == TokenKind::Identifier) {
    take();
    if (value.text == "None") return raw;
    if (value.text == "True" || value.text == "False") {
      raw.kind = RawAttr::Kind::Bool;
      raw.boolean = value.text == "True";
      return raw;
    }
    raw.kind = RawAttr::Kind::Name;
    raw.text = std::string(value.text);
    return raw;
  }
  error(value.location,
        fmt::format("expected the value of an attribute, found {}{}", found(), hintForAttribute()));
  return std::nullopt;
}

std::optional<std::vector<DimExpr>> Parser::parseDimList() {
  std::vector<DimExpr> dims;
  if (!at(TokenKind::LeftBracket) && !at(TokenKind::LeftParen)) {
    std::optional<DimExpr> dim = parseDim();
    if (!dim) return std::nullopt;
    dims.push_back(std::move(*dim));
    return dims;
  }
  TokenKind close = take().kind == TokenKind::LeftBracket ? TokenKind::RightBracket : TokenKind::RightParen;
  while (!at(close)) {
    std::optional<DimExpr> dim = parseDim();
    if (!dim) return std::nullopt;
    // "1i64" among the numbers of a shape: the width of a number is not part of the shape.
    dims.push_back(std::move(*dim));
    if (!accept(TokenKind::Comma)) break;
  }
  if (!expect(close, "after a list of dims")) return std::nullopt;
  return dims;
}

bool Parser::parseAttribute(const ops::OpDef& op, ir::Attrs& attrs) {
  const SourceLocation place = peek().location;
  const std::string name = takeAttributeName();
  auto spec = std::find_if(op.attrs.begin(), op.attrs.end(),
                           [&](const ops::AttrSpec& candidate) { return candidate.name == name; });
  if (spec == op.attrs.end()) {
    // They say nothing about the result.
    if (std::find(op.ignoredAttrs.begin(), op.ignoredAttrs.end(), name) != op.ignoredAttrs.end())
      return parseRawAttr().has_value();
    if (isOfTuners(name)) {
      const std::optional<RawAttr> raw = parseRawAttr();
      if (!raw || isNothing(*raw)) return raw.has_value();
      error(place, fmt::format("{}: {} says that a tuner has laid out an operand anew, which is not "
                               "supported: found {}; expected nothing",
                               op.name, name, shownValue(*raw)));
      return false;
    }
    std::string known;
    NearestName nearest(name);
    for (const ops::AttrSpec& candidate : op.attrs) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", candidate.name);
      nearest.consider(candidate.name);
    }
    error(place, fmt::format("{} has no attribute {}: it has {}{}", op.name, shown(name),
                             known.empty() ? "none" : known, nearest.text()));
    return false;
  }
  if (attrs.find(name) != nullptr) {
    error(place, fmt::format("attribute {} is given twice", name));
    return false;
  }
  isInputToo_ = hasInputFor(op, *spec);
  struct Leave {
    Parser& parser;
    ~Leave() { parser.isInputToo_ = false; }
  } leave{*this};
  if (spec->kind == ops::AttrKind::DimList && !atKeyword("None")) {
    std::optional<std::vector<DimExpr>> dims = parseDimList();
    if (!dims) return false;
    attrs.set(name, std::move(*dims));
    return true;
  }
  std::optional<RawAttr> raw = parseRawAttr();
  if (!raw) return false;
  std::optional<ir::AttrValue> value = convertAttr(*raw, *spec, op.name);
  if (!value) return false;
  attrs.set(name, std::move(*value));
  return true;
}

std::optional<ir::AttrValue> Parser::convertAttr(const RawAttr& raw, const ops::AttrSpec& spec,
                                                 std::string_view op) {
  using Kind = RawAttr::Kind;
  std::optional<ir::AttrValue> value;
  bool isNone = raw.kind == Kind::None;
  // Dumps write an absent dtype as "".
  if (spec.kind == ops::AttrKind::DType && raw.kind == Kind::String && raw.text.empty()) isNone = true;
  if (isNone) {
    if (spec.mayBeNone) return ir::AttrValue{};
    refuseAttr(raw, spec, op);
    return std::nullopt;
  }
  switch (spec.kind) {
    case ops::AttrKind::Bool:
      if (raw.kind == Kind::Bool) value = raw.boolean;
      if (raw.kind == Kind::Int && (raw.integer == 0 || raw.integer == 1)) value = raw.integer == 1;
      break;
    case ops::AttrKind::Int:
      if (raw.kind == Kind::Int) value = raw.integer;
      if (raw.kind == Kind::Bool) value = static_cast<int64_t>(raw.boolean);
      // [1] where one number is wanted.
      if (raw.kind == Kind::List && raw.list.size() == 1 && raw.list[0].kind == Kind::Int)
        value = raw.list[0].integer;
      break;
    case ops::AttrKind::Float:
      if (raw.kind == Kind::Float) value = raw.real;
      if (raw.kind == Kind::Int) value = static_cast<double>(raw.integer);
      break;
    case ops::AttrKind::String:
      if (raw.kind == Kind::String || raw.kind == Kind::Name) value = raw.text;
      break;
    case ops::AttrKind::DType:
      if (raw.kind == Kind::String || raw.kind == Kind::Name)
        if (std::optional<DType> dtype = parseDType(raw.text)) value = *dtype;
      break;
    case ops::AttrKind::IntList: {
      std::vector<int64_t> list;
      if ((raw.kind == Kind::List || raw.kind == Kind::Int) && flatten(raw, list)) value = std::move(list);
      break;
    }
    case ops::AttrKind::FloatList: {
      std::vector<double> list;
      bool isListOrNumber = raw.kind == Kind::List || raw.kind == Kind::Int || raw.kind == Kind::Float;
      if (isListOrNumber && flatten(raw, list)) value = std::move(list);
      break;
    }
    case ops::AttrKind::IntOrIntList: {
      std::vector<int64_t> list;
      if (raw.kind == Kind::Int) value = raw.integer;
      if (raw.kind == Kind::List && flatten(raw, list)) value = std::move(list);
      break;
    }
    case ops::AttrKind::DimList: break;  // parsed as dims
  }
  if (!value) refuseAttr(raw, spec, op);
  return value;
}

void Parser::refuseAttr(const RawAttr& raw, const ops::AttrSpec& spec, std::string_view op) {
  const bool isDTypeName = spec.kind == ops::AttrKind::DType &&
                           (raw.kind == RawAttr::Kind::String || raw.kind == RawAttr::Kind::Name);
  error(raw.location,
        fmt::format("{}: attribute {} must be {}, found {}{}", op, spec.name, kindName(spec.kind),
                    shownValue(raw), isDTypeName ? hintForDType(raw.text) : std::string()));
}

bool Parser::completeAttrs(const ops::OpDef& op, ir::Attrs& attrs, SourceLocation location) {
  bool ok = true;
  for (const ops::AttrSpec& spec : op.attrs) {
    if (attrs.find(spec.name) != nullptr) continue;
    if (spec.isRequired) {
      error(location, fmt::format("{}: attribute {} is missing", op.name, spec.name));
      ok = false;
    } else {
      attrs.set(spec.name, spec.defaultValue);
    }
  }
  return ok;
}

bool Parser::atAttribute() const {
  size_t ahead = 0;
  while (peek(ahead).kind == TokenKind::Identifier && peek(ahead + 1).kind == TokenKind::Dot) ahead += 2;
  return peek(ahead).kind == TokenKind::Identifier && peek(ahead + 1).kind == TokenKind::Equal;
}

std::string Parser::takeAttributeName() {
  std::string name;
  while (!at(TokenKind::Equal)) {
    const Token token = take();
    name += token.kind == TokenKind::Dot ? "." : token.text;
  }
  take();
  return name;
}

bool Parser::parseFunctionAttribute(ir::Attrs& attrs) {
  const std::string name = takeAttributeName();
  if (skipBraces()) return true;  // a map
  std::optional<RawAttr> raw = parseRawAttr();
  if (!raw) return false;
  if (name == "virtual_device") return true;  // not ours to follow
  switch (raw->kind) {
    case RawAttr::Kind::Object: break;
    case RawAttr::Kind::None: attrs.set(name, {}); break;
    case RawAttr::Kind::Bool: attrs.set(name, raw->boolean); break;
    case RawAttr::Kind::Int: attrs.set(name, raw->integer); break;
    case RawAttr::Kind::Float: attrs.set(name, raw->real); break;
    case RawAttr::Kind::String:
    case RawAttr::Kind::Name: attrs.set(name, raw->text); break;
    case RawAttr::Kind::List: {
      std::vector<int64_t> list;
      if (flatten(*raw, list)) attrs.set(name, std::move(list));
      break;
    }
  }
  return true;
}

}  // namespace baton::frontend

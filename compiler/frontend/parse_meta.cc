// References into the metadata section: meta[kind][i] as a constant, an attribute, an extent or a
// type. What stands there is a graph of objects, in the form in which the text's printer keeps what
// it has no text for.
#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "compiler/frontend/parser_impl.h"

namespace baton::frontend {
namespace {

/// Objects that one reference may consist of: the graph may share and even contain itself.
constexpr size_t kMaxObjects = 10000;

/// Fields that refer to an object although they hold one integer; all others hold its digits.
constexpr std::pair<std::string_view, std::string_view> kIntegerObjects[] = {
    {"relay.attrs.DenseAttrs", "units"},     {"relay.attrs.MatmulAttrs", "units"},
    {"relay.attrs.TakeAttrs", "batch_dims"}, {"relay.attrs.TakeAttrs", "axis"},
    {"relay.attrs.GatherAttrs", "axis"},     {"relay.attrs.RepeatAttrs", "repeats"},
    {"relay.attrs.RepeatAttrs", "axis"},     {"relay.attrs.StackAttrs", "axis"},
    {"relay.attrs.ReverseAttrs", "axis"},    {"relay.attrs.CumulativeAttrs", "axis"},
};

bool isIntegerObject(std::string_view kind, std::string_view field) {
  return std::find(std::begin(kIntegerObjects), std::end(kIntegerObjects), std::pair(kind, field)) !=
         std::end(kIntegerObjects);
}

template <class T>
std::optional<T> numberIn(const std::string* text) {
  T value{};
  if (text == nullptr) return std::nullopt;
  auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failure != std::errc() || end != text->data() + text->size()) return std::nullopt;
  return value;
}

/// The text of a string object, or of an immediate string.
const std::string* textOf(const ir::MetadataNode& node) {
  if (node.kind == "runtime.String") return &node.text;
  return node.kind == "tir.StringImm" || node.kind == "StringImm" ? node.field("value") : nullptr;
}

/// Whether a field holds no more than a default: nothing, or a string or list that is empty.
bool saysNothing(const ir::MetadataGraph& graph, const std::string& field) {
  if (field.empty() || field == "0" || field == "null") return true;
  const ir::MetadataNode* object = graph.reference(field);
  return object != nullptr && (object->kind == "runtime.String" || object->kind == "Array") &&
         object->text.empty() && object->items.empty();
}

std::optional<DimOp> dimOpOf(std::string_view kind) {
  // Extents are not negative, so that both ways to round are the same.
  if (kind == "tir.FloorDiv" || kind == "tir.Div") return DimOp::FloorDiv;
  if (kind == "tir.FloorMod" || kind == "tir.Mod") return DimOp::FloorMod;
  if (kind == "tir.Min") return DimOp::Min;
  if (kind == "tir.Max") return DimOp::Max;
  return std::nullopt;
}

}  // namespace

std::string Parser::MetaReference::text() const { return fmt::format("meta[{}][{}]", kind, index); }

std::optional<Parser::MetaReference> Parser::parseMetaReference() {
  MetaReference reference;
  reference.location = take().location;
  if (!expect(TokenKind::LeftBracket, "after 'meta'")) return std::nullopt;
  while (!at(TokenKind::RightBracket) && !at(TokenKind::End)) reference.kind += take().text;
  if (!expect(TokenKind::RightBracket, "after a kind of metadata") ||
      !expect(TokenKind::LeftBracket, "before an index into the metadata"))
    return std::nullopt;
  const Token number = peek();
  if (!expect(TokenKind::Integer, "as an index into the metadata") ||
      !expect(TokenKind::RightBracket, "after an index into the metadata"))
    return std::nullopt;
  auto [end, failure] =
      std::from_chars(number.text.data(), number.text.data() + number.text.size(), reference.index);
  if (failure != std::errc()) reference.index = SIZE_MAX;
  return reference;
}

const ir::MetadataNode* Parser::metaNode(const MetaReference& reference) {
  if (!isMetadataRead_) {
    isMetadataRead_ = true;
    if (stream_.metadata.empty()) {
      error(reference.location,
            fmt::format("{} is not there: the text has no #[metadata] section; vm-opt --print-constants "
                        "prints one",
                        shown(reference.text())));
      return nullptr;
    }
    Result<ir::MetadataGraph> graph = ir::MetadataGraph::read(stream_.metadata);
    if (!graph.has_value()) {
      error(reference.location, graph.error().message());
      return nullptr;
    }
    metadata_ = std::move(graph).value();
  }
  if (!metadata_) return nullptr;  // reported when it was read
  const std::span<const size_t> objects = metadata_->objects(reference.kind);
  const ir::MetadataNode* node =
      reference.index < objects.size() ? metadata_->node(objects[reference.index]) : nullptr;
  if (node == nullptr)
    error(reference.location, fmt::format("{} is not there: the metadata has {} of the kind",
                                          shown(reference.text()), objects.size()));
  return node;
}

std::optional<ir::Atom> Parser::parseMetaConstant() {
  const std::optional<MetaReference> reference = parseMetaReference();
  if (!reference) return std::nullopt;
  if (reference->kind != "relay.Constant") {
    error(reference->location,
          fmt::format("{} is no value: only relay.Constant is", shown(reference->text())));
    return std::nullopt;
  }
  const ir::MetadataNode* node = metaNode(*reference);
  if (node == nullptr) return function_ == nullptr ? std::nullopt : std::optional(poison());
  auto [known, isNew] = metaConstants_.try_emplace(reference->index);
  if (!isNew) return known->second;
  Result<ir::Constant> constant = metadata_->constant(*node);
  if (!constant.has_value()) {
    error(reference->location, constant.error().message());
    metaConstants_.erase(known);
    return std::nullopt;
  }
  known->second = module_.addConstant(std::move(constant).value());
  return known->second;
}

std::optional<RawAttr> Parser::parseMetaAttr() {
  const std::optional<MetaReference> reference = parseMetaReference();
  if (!reference) return std::nullopt;
  RawAttr raw;
  raw.location = reference->location;
  raw.kind = RawAttr::Kind::Object;
  raw.text = reference->text();
  // What cannot be an attribute of ours does no harm in functions, where all are dropped but known ones.
  static constexpr std::string_view kKinds[] = {"IntImm", "FloatImm", "Array", "runtime.String",
                                                "tir.StringImm"};
  if (std::find(std::begin(kKinds), std::end(kKinds), reference->kind) == std::end(kKinds)) return raw;
  const ir::MetadataNode* node = metaNode(*reference);
  if (node == nullptr) return std::nullopt;
  size_t budget = kMaxObjects;
  std::optional<RawAttr> value = rawOf(*node, reference->location, budget);
  if (!value) error(reference->location, fmt::format("{} is no attribute", shown(raw.text)));
  return value;
}

std::optional<RawAttr> Parser::rawOf(const ir::MetadataNode& node, SourceLocation location, size_t& budget) {
  RawAttr raw;
  raw.location = location;
  if (budget == 0) return std::nullopt;
  --budget;
  if (node.kind.empty()) return raw;
  if (node.kind == "IntImm") {
    const std::optional<int64_t> value = numberIn<int64_t>(node.field("value"));
    if (!value) return std::nullopt;
    const std::string* dtype = node.field("dtype");
    raw.kind = dtype != nullptr && *dtype == "bool" ? RawAttr::Kind::Bool : RawAttr::Kind::Int;
    raw.integer = *value;
    raw.boolean = *value != 0;
    return raw;
  }
  if (node.kind == "FloatImm") {
    const std::optional<double> value = numberIn<double>(node.field("value"));
    if (!value) return std::nullopt;
    raw.kind = RawAttr::Kind::Float;
    raw.real = *value;
    return raw;
  }
  if (const std::string* text = textOf(node)) {
    raw.kind = RawAttr::Kind::String;
    raw.text = *text;
    return raw;
  }
  if (node.kind != "Array" || !enterNesting(location)) return std::nullopt;
  raw.kind = RawAttr::Kind::List;
  bool ok = true;
  for (size_t position : node.items) {
    const ir::MetadataNode* item = metadata_->node(position);
    std::optional<RawAttr> element = item == nullptr ? std::nullopt : rawOf(*item, location, budget);
    ok = element.has_value();
    if (!ok) break;
    raw.list.push_back(std::move(*element));
  }
  leaveNesting();
  return ok ? std::optional(std::move(raw)) : std::nullopt;
}

// One field of an object of attributes, before its schema gives it a type.
std::optional<RawAttr> Parser::rawField(const ir::MetadataNode& object, const std::string& name,
                                        const std::string& text, const ops::AttrSpec& spec,
                                        SourceLocation location) {
  RawAttr raw;
  raw.location = location;
  const ir::MetadataNode* referred = metadata_->reference(text);
  size_t budget = kMaxObjects;
  const auto ofReference = [&]() -> std::optional<RawAttr> {
    if (text == "0" || text == "null") return raw;  // None
    return referred == nullptr ? std::nullopt : rawOf(*referred, location, budget);
  };
  switch (spec.kind) {
    case ops::AttrKind::Bool:
    case ops::AttrKind::Int: {
      if (spec.kind == ops::AttrKind::Int && isIntegerObject(object.kind, name)) return ofReference();
      const std::optional<int64_t> value = numberIn<int64_t>(&text);
      if (!value) return std::nullopt;
      raw.kind = RawAttr::Kind::Int;
      raw.integer = *value;
      return raw;
    }
    case ops::AttrKind::Float: {
      const std::optional<double> value = numberIn<double>(&text);
      if (!value) return std::nullopt;
      raw.kind = RawAttr::Kind::Float;
      raw.real = *value;
      return raw;
    }
    case ops::AttrKind::String:
      if (referred != nullptr && textOf(*referred) != nullptr) return ofReference();
      raw.kind = RawAttr::Kind::String;
      raw.text = text;
      return raw;
    case ops::AttrKind::DType:
      raw.kind = text == "void" ? RawAttr::Kind::None : RawAttr::Kind::String;
      raw.text = text;
      return raw;
    case ops::AttrKind::IntList:
    case ops::AttrKind::FloatList:
    case ops::AttrKind::DimList:
    case ops::AttrKind::IntOrIntList: return ofReference();
  }
  return std::nullopt;
}

// meta[relay.attrs.DenseAttrs][0] among the arguments of an operator: all its attributes at once.
bool Parser::parseMetaAttributes(const ops::OpDef& op, ir::Attrs& attrs) {
  const std::optional<MetaReference> reference = parseMetaReference();
  if (!reference) return false;
  const ir::MetadataNode* node = metaNode(*reference);
  if (node == nullptr) return false;
  for (const auto& [name, text] : node->fields) {
    const auto spec = std::find_if(op.attrs.begin(), op.attrs.end(),
                                   [&](const ops::AttrSpec& candidate) { return candidate.name == name; });
    if (spec == op.attrs.end()) {
      const bool isIgnored = name == "span" || std::find(op.ignoredAttrs.begin(), op.ignoredAttrs.end(),
                                                         name) != op.ignoredAttrs.end();
      if (isIgnored || saysNothing(*metadata_, text)) continue;
      error(reference->location,
            fmt::format("{} has an attribute {}, which {} has not", shown(reference->text()), name, op.name));
      return false;
    }
    std::optional<ir::AttrValue> value;
    const ir::MetadataNode* list = metadata_->reference(text);
    if (spec->kind == ops::AttrKind::DimList && list != nullptr && list->kind == "Array") {
      std::vector<DimExpr> dims;
      for (size_t position : list->items) {
        std::optional<DimExpr> dim = dimAt(position, reference->location);
        if (!dim) return false;
        dims.push_back(std::move(*dim));
      }
      value = std::move(dims);
    } else {
      const std::optional<RawAttr> raw = rawField(*node, name, text, *spec, reference->location);
      if (!raw) {
        error(reference->location,
              fmt::format("{}: the field {} cannot be read", shown(reference->text()), name));
        return false;
      }
      value = convertAttr(*raw, *spec, op.name);
    }
    if (!value) return false;
    attrs.set(name, std::move(*value));
  }
  return true;
}

// meta[tir.SizeVar][0] as an extent: the same symbol each time. `?` where the object is one.
std::optional<DimExpr> Parser::parseMetaDim() {
  const std::optional<MetaReference> reference = parseMetaReference();
  if (!reference) return std::nullopt;
  if (metaNode(*reference) == nullptr) return std::nullopt;
  return dimAt(metadata_->objects(reference->kind)[reference->index], reference->location);
}

std::optional<DimExpr> Parser::dimAt(size_t position, SourceLocation location) {
  size_t budget = kMaxObjects;
  std::optional<DimExpr> dim = dimOf(position, location, budget);
  if (!dim) error(location, "the metadata holds no extent here");
  return dim;
}

std::optional<DimExpr> Parser::dimOf(size_t position, SourceLocation location, size_t& budget) {
  const ir::MetadataNode* node = metadata_->node(position);
  if (node == nullptr || budget == 0) return std::nullopt;
  --budget;
  if (node->kind == "IntImm") {
    const std::optional<int64_t> value = numberIn<int64_t>(node->field("value"));
    return value ? std::optional(DimExpr::constant(*value)) : std::nullopt;
  }
  if (node->kind == "tir.Any") return DimExpr::symbol(ir::kAnyDim);
  if (node->kind == "tir.Var" || node->kind == "tir.SizeVar") {
    // The name of a scope that text cannot have: two objects may have one name.
    const std::string key = fmt::format("meta:{}", position);
    if (std::optional<DimSymbol> known = dims_.find(key)) return DimExpr::symbol(*known);
    if (!mayNameDims_) return std::nullopt;
    const std::string* name = node->field("name");
    const DimSymbol symbol = module_.dimSymbols.add(name == nullptr || name->empty() ? "n" : *name);
    dims_.declare(key, symbol);
    declaredDims_.emplace_back(symbol, location);
    return DimExpr::symbol(symbol);
  }
  const std::string* a = node->field(node->kind == "tir.Cast" ? "value" : "a");
  const std::string* b = node->kind == "tir.Cast" ? a : node->field("b");
  const std::optional<size_t> left = numberIn<size_t>(a);
  const std::optional<size_t> right = numberIn<size_t>(b);
  if (!left || !right || !enterNesting(location)) return std::nullopt;
  std::optional<DimExpr> lhs = dimOf(*left, location, budget);
  std::optional<DimExpr> rhs = lhs ? dimOf(*right, location, budget) : std::nullopt;
  leaveNesting();
  if (!lhs || !rhs || lhs->asSymbol() == ir::kAnyDim || rhs->asSymbol() == ir::kAnyDim) return std::nullopt;
  if (node->kind == "tir.Cast") return lhs;
  if (node->kind == "tir.Add") return *lhs + *rhs;
  if (node->kind == "tir.Sub") return *lhs - *rhs;
  if (node->kind == "tir.Mul") return *lhs * *rhs;
  const std::optional<DimOp> op = dimOpOf(node->kind);
  const bool divides = op == DimOp::FloorDiv || op == DimOp::FloorMod;
  if (!op || (divides && rhs->asConstant() == 0)) return std::nullopt;
  return DimExpr::opaque(*op, *lhs, *rhs);
}

// meta[IncompleteType][0] is `_`, as a printer leaves it behind before types are inferred.
std::optional<ir::TypeRef> Parser::parseMetaType() {
  const std::optional<MetaReference> reference = parseMetaReference();
  if (!reference) return std::nullopt;
  if (reference->kind == "IncompleteType") return module_.types.hole();
  if (reference->kind != "relay.TensorType") {
    error(reference->location,
          fmt::format("{} is no type: relay.TensorType and IncompleteType are", shown(reference->text())));
    return std::nullopt;
  }
  const ir::MetadataNode* node = metaNode(*reference);
  if (node == nullptr) return std::nullopt;
  const std::string* shape = node->field("shape");
  const ir::MetadataNode* list = shape == nullptr ? nullptr : metadata_->reference(*shape);
  const std::string* name = node->field("dtype");
  const std::optional<DType> dtype = name == nullptr ? std::nullopt : parseDType(*name);
  if (list == nullptr || !dtype) {
    error(reference->location, fmt::format("{} cannot be read", shown(reference->text())));
    return std::nullopt;
  }
  std::vector<DimExpr> dims;
  for (size_t position : list->items) {
    std::optional<DimExpr> dim = dimAt(position, reference->location);
    if (!dim) return std::nullopt;
    dims.push_back(std::move(*dim));
  }
  return module_.types.tensor(*dtype, std::move(dims));
}

}  // namespace baton::frontend

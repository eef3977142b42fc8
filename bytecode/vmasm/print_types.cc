// Text of kinds, types, dims and references by name.
#include <algorithm>

#include <fmt/format.h>

#include "bytecode/vmasm/printer_impl.h"
#include "bytecode/vmasm/token.h"

namespace baton::bytecode {

namespace {

bool isDimOperation(std::string_view name) {
  for (DimOp op : {DimOp::FloorDiv, DimOp::FloorMod, DimOp::CeilDiv, DimOp::Min, DimOp::Max, DimOp::TooLarge})
    if (name == dimOpName(op)) return true;
  return false;
}

std::string dimText(const DimExpr& expr, const std::vector<std::string>& symbols) {
  return expr.print([&](DimSymbol symbol) {
    return symbol.value() < symbols.size() ? symbols[symbol.value()] : fmt::format("?{}", symbol.value());
  });
}

std::string quotedUnlessIdentifier(std::string_view name) {
  return isIdentifier(name) ? std::string(name) : escapeString(name);
}

/// `functionText` gives the reference to a function.
template <class F>
std::string kindText(const Kind& kind, F&& functionText) {
  switch (kind.tag) {
    case KindTagValue::Scalar: return std::string(dtypeShortName(kind.dtype));
    case KindTagValue::Tensor: {
      const std::string device = kind.device == 0 ? "" : fmt::format(", {}", kind.device);
      return fmt::format("tensor<{}, {}{}>", dtypeShortName(kind.dtype), kind.rank, device);
    }
    case KindTagValue::Adt: return fmt::format("adt<t{}>", kind.index);
    case KindTagValue::Closure: {
      const std::string function = kind.function ? ", " + functionText(kind.function->value()) : "";
      return fmt::format("closure<sig{}{}>", kind.index, function);
    }
    case KindTagValue::Cell: return fmt::format("cell<k{}>", kind.index);
    case KindTagValue::Array: return fmt::format("array<k{}>", kind.index);
    case KindTagValue::Storage: return kind.device == 0 ? "storage" : fmt::format("storage<{}>", kind.device);
  }
  return "?";
}

}  // namespace

std::vector<std::string> symbolTexts(const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  std::unordered_map<std::string_view, int> counts;
  for (const std::string& name : names) ++counts[name];
  for (size_t i = 0; i < names.size(); ++i) {
    const bool byName = isIdentifier(names[i]) && counts[names[i]] == 1 && !isDimOperation(names[i]);
    texts.push_back(byName ? names[i] : fmt::format("?{}", i));
  }
  return texts;
}

NameTable::NameTable(char sigil, std::vector<std::string_view> names)
    : sigil_(sigil), names_(std::move(names)) {
  for (std::string_view name : names_) ++counts_[name];
}

std::string NameTable::reference(uint32_t index) const {
  if (index >= names_.size() || counts_.at(names_[index]) != 1) return fmt::format("{}{}", sigil_, index);
  return declaration(index);
}

std::string NameTable::declaration(uint32_t index) const {
  return sigil_ + quotedUnlessIdentifier(names_[index]);
}

std::string Printer::kind(const Kind& kind) const {
  return kindText(kind, [&](uint32_t index) { return functions_.reference(index); });
}

std::string Printer::kinds(std::span<const Kind> kinds) const {
  std::string text;
  for (const Kind& one : kinds) text += (text.empty() ? "" : ", ") + kind(one);
  return text;
}

std::string Printer::signature(const Signature& signature) const {
  return fmt::format("({}) -> ({})", kinds(signature.params), kinds(signature.results));
}

std::string Printer::extents(const std::vector<DimExpr>& extents,
                             const std::vector<std::string>& symbols) const {
  if (extents.empty()) return "";
  std::string text;
  for (const DimExpr& extent : extents) text += (text.empty() ? "[" : ", ") + dimText(extent, symbols);
  return text + "]";
}

std::string Printer::valueType(const ValueType& type, const std::vector<std::string>& symbols) const {
  switch (type.tag) {
    case ValueType::Tag::Tensor:
      return std::string(dtypeShortName(type.dtype)) + extents(type.extents, symbols);
    case ValueType::Tag::Adt:
      return type.view ? fmt::format("adt<t{}, v{}>", type.type.value(), *type.view)
                       : fmt::format("adt<t{}>", type.type.value());
    case ValueType::Tag::Closure: return fmt::format("closure<sig{}>", type.signature.value());
    case ValueType::Tag::Cell: return fmt::format("cell<k{}>", type.content.value());
    case ValueType::Tag::Array:
      return type.view
                 ? fmt::format("array<k{}, t{}, v{}>", type.content.value(), type.type.value(), *type.view)
                 : fmt::format("array<k{}, t{}>", type.content.value(), type.type.value());
  }
  return "?";
}

void Printer::constraints(const std::vector<DimConstraint>& constraints,
                          const std::vector<std::string>& symbols) {
  for (const DimConstraint& constraint : constraints)
    out_ += fmt::format("  where {} {} {}\n", dimText(constraint.lhs, symbols),
                        relationName(constraint.relation), dimText(constraint.rhs, symbols));
}

std::string printKind(const Program& program, const Kind& kind) {
  return kindText(kind, [&](uint32_t index) {
    return fmt::format("@{}", index < program.functions.size()
                                  ? quotedUnlessIdentifier(program.functions[index].name)
                                  : std::to_string(index));
  });
}

std::string printValueType(const ValueType& type, const std::vector<std::string>& symbolNames) {
  return Printer(Program()).valueType(type, symbolTexts(symbolNames));
}

std::string printDim(const DimExpr& expr, const std::vector<std::string>& symbolNames) {
  return dimText(expr, symbolTexts(symbolNames));
}

}  // namespace baton::bytecode

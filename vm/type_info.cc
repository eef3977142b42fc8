#include "vm/type_info.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace baton::vm {

namespace {

using bytecode::Kind;
using bytecode::KindTagValue;
using bytecode::TypeDef;
using bytecode::ValueType;

std::string tensorText(const std::vector<std::string>& extents, DType dtype) {
  if (extents.empty()) return std::string(dtypeName(dtype));
  return fmt::format("Tensor[({}{}), {}]", fmt::join(extents, ", "), extents.size() == 1 ? "," : "",
                     dtypeName(dtype));
}

bool isSameLeaf(const TypeInfo& a, const TypeInfo& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case TypeKind::Tensor: return a.dtype == b.dtype && a.rank() == b.rank();
    case TypeKind::Scalar: return a.dtype == b.dtype;
    case TypeKind::Closure: return a.executable == b.executable && a.signature == b.signature;
    case TypeKind::Ref: return a.executable == b.executable && a.text == b.text;
    case TypeKind::Tuple:
    case TypeKind::Adt:
    case TypeKind::Array: return true;  // decided by their fields
  }
  return false;
}

bool isSameDefinition(const TypeDef& a, const TypeDef& b) {
  if (a.isTuple != b.isTuple || a.isList != b.isList || a.isArray != b.isArray ||
      a.constructors.size() != b.constructors.size())
    return false;
  for (size_t c = 0; c < a.constructors.size(); ++c) {
    const bytecode::Constructor &x = a.constructors[c], &y = b.constructors[c];
    if (x.name != y.name || x.fields.size() != y.fields.size()) return false;
    for (size_t i = 0; i < x.fields.size(); ++i)
      if (x.fields[i].isScalar != y.fields[i].isScalar || x.fields[i].slot != y.fields[i].slot) return false;
  }
  return true;
}

}  // namespace

bool isSameStructure(const TypeInfo& a, const TypeInfo& b) {
  if (&a == &b || (a.hasParts() && a.definition == b.definition)) return true;
  std::vector<std::pair<const TypeInfo*, const TypeInfo*>> pending{{&a, &b}};
  std::set<std::pair<const TypeDef*, const TypeDef*>> assumed;
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    if (!isSameLeaf(*x, *y)) return false;
    if (!x->hasParts() || x->definition == y->definition) continue;
    if (!assumed.insert({x->definition, y->definition}).second) continue;
    if (!isSameDefinition(*x->definition, *y->definition)) return false;
    for (size_t c = 0; c < x->fields->size(); ++c)
      for (size_t i = 0; i < (*x->fields)[c].size(); ++i)
        pending.push_back({&(*x->fields)[c][i], &(*y->fields)[c][i]});
  }
  return true;
}

bool impliesExtents(const TypeInfo& a, const TypeInfo& b) {
  std::vector<std::pair<const TypeInfo*, const TypeInfo*>> pending{{&a, &b}};
  std::set<std::pair<const FieldTypes*, const FieldTypes*>> seen;
  while (!pending.empty()) {
    const auto [x, y] = pending.back();
    pending.pop_back();
    for (size_t axis = 0; axis < y->extents.size(); ++axis)
      if (y->extents[axis] >= 0 && x->extents[axis] != y->extents[axis]) return false;
    if (!y->hasParts() || x->fields == y->fields || !seen.insert({x->fields, y->fields}).second) continue;
    for (size_t c = 0; c < y->fields->size(); ++c)
      for (size_t i = 0; i < (*y->fields)[c].size(); ++i)
        pending.push_back({&(*x->fields)[c][i], &(*y->fields)[c][i]});
  }
  return true;
}

bool isSameType(const TypeInfo& a, const TypeInfo& b) { return isSameStructure(a, b) && a.text == b.text; }

TypeTable::TypeTable(const Executable& executable, const bytecode::Program& program)
    : executable_(executable), program_(program) {
  fields_.resize(program.types.size());
  for (size_t index = 0; index < program.types.size(); ++index) {
    for (const bytecode::Constructor& constructor : program.types[index].constructors) {
      std::vector<TypeInfo>& fields = fields_[index].emplace_back();
      for (const bytecode::Field& field : constructor.fields) {
        fields.push_back(describe(field.type, std::vector<std::string>()));
        for (DimExpr& dim : fields.back().dims)
          dim = dim.substitute([](DimSymbol symbol) {
            return std::optional(DimExpr::symbol(DimSymbol(symbol.value() | kFieldSymbols)));
          });
      }
    }
  }
}

TypeInfo TypeTable::describe(const ValueType& type, const std::vector<std::string>& symbols) const {
  TypeInfo info;
  info.executable = &executable_;
  switch (type.tag) {
    case ValueType::Tag::Tensor:
      info.kind = type.extents.empty() ? TypeKind::Scalar : TypeKind::Tensor;
      info.dtype = type.dtype;
      info.dims = type.extents;
      for (const DimExpr& dim : type.extents) {
        info.extents.push_back(dim.asConstant().value_or(-1));
        info.extentTexts.push_back(dim.print([&](DimSymbol symbol) {
          return symbol.value() < symbols.size() ? symbols[symbol.value()] : std::string("?");
        }));
      }
      info.text = tensorText(info.extentTexts, info.dtype);
      break;
    case ValueType::Tag::Adt:
      info.definition = &program_.types[type.type.value()];
      info.kind = info.definition->isTuple ? TypeKind::Tuple : TypeKind::Adt;
      info.typeIndex = type.type.value();
      info.fields = &fields_[info.typeIndex];
      info.text = typeText(info.typeIndex);
      break;
    case ValueType::Tag::Array:
      info.kind = TypeKind::Array;
      info.definition = &program_.types[type.type.value()];
      info.typeIndex = type.type.value();
      info.fields = &fields_[info.typeIndex];
      info.text = typeText(info.typeIndex);
      break;
    case ValueType::Tag::Closure:
      info.kind = TypeKind::Closure;
      info.signature = type.signature.value();
      info.text = kindText(Kind::closure(type.signature));
      break;
    case ValueType::Tag::Cell:
      info.kind = TypeKind::Ref;
      info.text = kindText(Kind::cell(type.content));
      break;
  }
  return info;
}

TypeInfo TypeTable::describe(const ValueType& type, const bytecode::EntryPoint& entry,
                             const std::vector<FieldTypes>& views) const {
  TypeInfo info = describe(type, entry.symbols);
  if (!type.view) return info;
  info.fields = &views[*type.view];
  info.text = entry.views[*type.view].name;
  return info;
}

std::vector<FieldTypes> TypeTable::describeViews(const bytecode::EntryPoint& entry) const {
  std::vector<FieldTypes> views(entry.views.size());
  for (size_t i = 0; i < views.size(); ++i)
    for (const std::vector<ValueType>& fields : entry.views[i].fields) {
      std::vector<TypeInfo>& types = views[i].emplace_back();
      for (const ValueType& field : fields) types.push_back(describe(field, entry, views));
    }
  return views;
}

std::string TypeTable::typeText(uint32_t index) const {
  const TypeDef& type = program_.types[index];
  if (!type.name.empty() || !type.isTuple || type.constructors.empty()) return type.name;
  std::vector<std::string> fields;
  for (const bytecode::Field& field : type.constructors.front().fields) {
    const Kind kind = kindOf(field.type);
    const bool isNamelessTuple = kind.tag == KindTagValue::Adt && program_.types[kind.index].name.empty();
    fields.push_back(isNamelessTuple ? "(...)" : kindText(kind));
  }
  return fmt::format("({}{})", fmt::join(fields, ", "), fields.size() == 1 ? "," : "");
}

std::string TypeTable::kindText(const Kind& kind) const {
  // Signatures and cells nest in one another: from some depth on only their outline is shown.
  struct Writer {
    const TypeTable& table;
    std::string write(const Kind& kind, int depth) const {
      switch (kind.tag) {
        case KindTagValue::Scalar: return std::string(dtypeName(kind.dtype));
        case KindTagValue::Tensor: return tensorText(std::vector<std::string>(kind.rank, "?"), kind.dtype);
        case KindTagValue::Adt: return table.typeText(kind.index);
        case KindTagValue::Cell:
          return depth == 0 ? "Ref[...]"
                            : fmt::format("Ref[{}]", write(table.program_.kinds[kind.index], depth - 1));
        case KindTagValue::Array:
          return depth == 0 ? "Array[...]"
                            : fmt::format("Array[{}]", write(table.program_.kinds[kind.index], depth - 1));
        case KindTagValue::Storage: return "Storage";
        case KindTagValue::Closure: break;
      }
      if (depth == 0) return "fn(...)";
      const bytecode::Signature& signature = table.program_.signatures[kind.index];
      std::vector<std::string> params, results;
      for (const Kind& param : signature.params) params.push_back(write(param, depth - 1));
      for (const Kind& result : signature.results) results.push_back(write(result, depth - 1));
      return results.size() == 1
                 ? fmt::format("fn({}) -> {}", fmt::join(params, ", "), results.front())
                 : fmt::format("fn({}) -> ({})", fmt::join(params, ", "), fmt::join(results, ", "));
    }
  };
  constexpr int kDepth = 4;
  return Writer{*this}.write(kind, kDepth);
}

}  // namespace baton::vm

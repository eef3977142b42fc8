// The table of operators, made once from the generated records.
#include <algorithm>

#include "compiler/ops/declarations.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

std::vector<OpDef> makeOperators() {
  std::vector<OpDef> ops;
#include "compiler/ops/generated/table.inc"
  return ops;
}

}  // namespace

OpRegistry::OpRegistry() : ops_(makeOperators()) {
  for (const OpDef& op : ops_) {
    byName_.push_back(&op);
    names_.emplace_back(op.name, &op);
    for (std::string_view alias : op.aliases) names_.emplace_back(alias, &op);
  }
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(names_.begin(), names_.end(), before);
  std::sort(byName_.begin(), byName_.end(), [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
}

const OpRegistry& OpRegistry::instance() {
  static const OpRegistry registry;
  return registry;
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name,
                                   [](const auto& entry, std::string_view key) { return entry.first < key; });
  return at != names_.end() && at->first == name ? at->second : nullptr;
}

ir::Attrs defaultAttrs(const OpDef& op) {
  ir::Attrs attrs;
  for (const AttrSpec& spec : op.attrs)
    if (!spec.isRequired) attrs.set(spec.name, spec.defaultValue);
  return attrs;
}

ir::Attrs completeAttrs(const OpDef& op, const ir::Attrs& given) {
  ir::Attrs complete = defaultAttrs(op);
  for (const auto& [name, value] : given.entries()) complete.set(name, value);
  return complete;
}

bool isInClass(DType dtype, DTypeClass types) {
  switch (types) {
    case DTypeClass::Any: return true;
    case DTypeClass::Numeric: return dtype != DType::Bool;
    case DTypeClass::Float: return isFloat(dtype);
    case DTypeClass::Integer: return isInteger(dtype);
    case DTypeClass::BoolOrInteger: return dtype == DType::Bool || isInteger(dtype);
    case DTypeClass::Bool: return dtype == DType::Bool;
    case DTypeClass::Index: return dtype == DType::I32 || dtype == DType::I64;
  }
  return false;
}

std::string_view dtypeClassName(DTypeClass types) {
  switch (types) {
    case DTypeClass::Any: return "any type";
    case DTypeClass::Numeric: return "an integer or float type";
    case DTypeClass::Float: return "a float type";
    case DTypeClass::Integer: return "an integer type";
    case DTypeClass::BoolOrInteger: return "bool or an integer type";
    case DTypeClass::Bool: return "bool";
    case DTypeClass::Index: return "int32 or int64";
  }
  return "unknown";
}

}  // namespace baton::ops

#include "vm/entry_point.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include "vm/data_check.h"
#include "vm/tensor_text.h"
#include "vm/value.h"

namespace baton::vm {

namespace {

std::string valueText(const Value& value) {
  const auto dtype = [&] {
    const std::string name(dtypeName(value.dtype()));
    return (name.starts_with('i') ? "an " : "a ") + name;
  };
  switch (value.kind()) {
    case TypeKind::Tensor: return fmt::format("{} tensor of shape {}", dtype(), shapeText(value.extents()));
    case TypeKind::Scalar: return dtype() + " scalar";
    case TypeKind::Tuple:
    case TypeKind::Adt:
    case TypeKind::Closure:
    case TypeKind::Ref: return fmt::format("a {}", value.type()->text);
    case TypeKind::Array: return fmt::format("an {}", value.type()->text);
  }
  return {};
}

}  // namespace

EntryPoint::EntryPoint(const Executable& executable, const bytecode::EntryPoint& declared,
                       const TypeTable& types)
    : executable_(executable),
      declared_(declared),
      views_(types.describeViews(declared)),
      result_(types.describe(declared.result, declared, views_)) {
  uint32_t nextScalar = 0;
  uint32_t nextReference = 0;
  std::vector<std::string> parameterTexts;
  for (const bytecode::EntryPoint::Parameter& parameter : declared.parameters) {
    TypeInfo type = types.describe(parameter.type, declared, views_);
    parameterTexts.push_back(fmt::format("%{}: {}", parameter.name, type.text));
    uint32_t& next = type.kind == TypeKind::Scalar ? nextScalar : nextReference;
    parameters_.push_back({parameter.name, std::move(type), next++});
  }
  bindSymbols();
  const auto symbolName = [&](DimSymbol symbol) {
    return symbol.value() < declared.symbols.size() ? declared.symbols[symbol.value()] : std::string("?");
  };
  for (const DimConstraint& constraint : declared.constraints)
    constraintTexts_.push_back(fmt::format("{} {} {}", constraint.lhs.print(symbolName),
                                           relationName(constraint.relation),
                                           constraint.rhs.print(symbolName)));
  signatureText_ =
      fmt::format("def @{}({}) -> {}", declared.name, fmt::join(parameterTexts, ", "), result_.text);
  if (!constraintTexts_.empty())
    signatureText_ += fmt::format(" where {}", fmt::join(constraintTexts_, ", "));
}

// A symbol is bound where it first is a whole extent of what every argument has.
void EntryPoint::bindSymbols() {
  bindings_.resize(declared_.symbols.size());
  for (uint32_t index = 0; index < parameters_.size(); ++index) {
    std::vector<std::pair<const TypeInfo*, std::vector<uint32_t>>> work{{&parameters_[index].type, {}}};
    for (size_t visited = 0; !work.empty() && visited < kMaxTupleParts; ++visited) {
      const auto [type, path] = std::move(work.back());
      work.pop_back();
      if (type->kind == TypeKind::Tuple) {
        const std::vector<TypeInfo>& fields = type->fields->front();
        for (size_t i = fields.size(); i-- > 0;) {
          std::vector<uint32_t> inner = path;
          inner.push_back(static_cast<uint32_t>(i));
          work.emplace_back(&fields[i], std::move(inner));
        }
      }
      for (uint32_t axis = 0; axis < type->rank(); ++axis) {
        if (type->dims[axis].isConstant()) continue;
        const std::optional<DimSymbol> symbol = type->dims[axis].asSymbol();
        if (symbol && symbol->value() < bindings_.size() && !bindings_[symbol->value()].isBound())
          bindings_[symbol->value()] = {{index, path}, axis};
        else if (path.empty())
          checks_.push_back({index, axis});
      }
    }
  }
  for (uint32_t index = 0; index < parameters_.size(); ++index)
    if (parameters_[index].type.hasParts() && hasSymbols(parameters_[index].type)) walks_.push_back(index);
}

size_t EntryPoint::findParameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? SIZE_MAX : static_cast<size_t>(found - parameters_.begin());
}

/// Whether anywhere in data of this type an extent is over symbols of the entry point.
bool EntryPoint::hasSymbols(const TypeInfo& root) const {
  std::vector<const TypeInfo*> work{&root};
  std::unordered_set<const FieldTypes*> seen;
  while (!work.empty()) {
    const TypeInfo& type = *work.back();
    work.pop_back();
    for (const DimExpr& dim : type.dims) {
      std::vector<DimSymbol> used;
      dim.collectSymbols(used);
      for (const DimSymbol symbol : used)
        if (symbol.value() < bindings_.size()) return true;
    }
    if (!type.hasParts() || !seen.insert(type.fields).second) continue;
    for (const std::vector<TypeInfo>& fields : *type.fields)
      for (const TypeInfo& field : fields) work.push_back(&field);
  }
  return false;
}

Result<void> EntryPoint::checkOne(size_t index, const Value& value, ErrorDetails& details) const {
  const Parameter& parameter = parameters_[index];
  const auto refuse = [&]() -> Result<void> {
    details = {{"argument", parameter.name}, {"found", valueText(value)}, {"expected", parameter.type.text}};
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("argument %{}: found {}, expected {}", parameter.name, valueText(value),
                             parameter.type.text));
  };
  if (value.isTensorLike()) {
    if (value.kind() != parameter.type.kind || value.dtype() != parameter.type.dtype) return refuse();
    return value.kind() == TypeKind::Tensor ? checkTensor(index, value, details) : success();
  }
  if (!isSameStructure(*value.type(), parameter.type)) return refuse();
  // That a value is checked means that it is what its own type says, which may be less.
  if (value.isChecked() && impliesExtents(*value.type(), parameter.type)) return success();
  if (std::optional<std::string> problem = findWrongExtent(parameter.type, value.object())) {
    details = {{"argument", parameter.name}};
    return Error(ErrorCode::InvalidArgument, fmt::format("argument %{}: {}", parameter.name, *problem));
  }
  if (impliesExtents(parameter.type, *value.type())) value.setChecked();
  return success();
}

Result<void> EntryPoint::checkTensor(size_t index, const Value& value, ErrorDetails& details) const {
  const TypeInfo& type = parameters_[index].type;
  const std::span<const int64_t> extents = value.extents();
  if (extents.size() != type.rank()) {
    details = {{"argument", parameters_[index].name}, {"found", valueText(value)}, {"expected", type.text}};
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("argument %{}: found {}, expected {}", parameters_[index].name, valueText(value),
                             type.text));
  }
  for (size_t axis = 0; axis < extents.size(); ++axis)
    if (type.extents[axis] >= 0 && type.extents[axis] != extents[axis])
      return mismatch(index, "", type, axis, extents[axis], {}, details);
  return success();
}

std::string EntryPoint::bindingText(uint32_t symbol) const {
  const Binding& binding = bindings_[symbol];
  if (!binding.isBound()) return "no argument";
  std::string text = fmt::format("dimension {} of ", binding.axis);
  for (size_t i = binding.place.path.size(); i-- > 0;)
    text += fmt::format("field {} of ", binding.place.path[i]);
  return text + fmt::format("argument %{}", parameters_[binding.place.parameter].name);
}

Error EntryPoint::mismatch(size_t index, const std::string& place, const TypeInfo& type, size_t axis,
                           int64_t found, Symbols symbols, ErrorDetails& details) const {
  const Parameter& parameter = parameters_[index];
  const DimExpr& dim = type.dims[axis];
  const std::string where = fmt::format("argument %{}: {}{}dimension {} is {}", parameter.name, place,
                                        place.empty() ? "" : ": ", axis, found);
  details = {{"argument", parameter.name},
             {"dimension", fmt::format("{}", axis)},
             {"found", fmt::format("{}", found)}};
  if (!place.empty()) details.push_back({"place", place});
  if (const std::optional<int64_t> constant = dim.asConstant()) {
    details.push_back({"expected", fmt::format("{}", *constant)});
    return Error(ErrorCode::InvalidArgument, fmt::format("{}, expected {}", where, *constant));
  }
  const std::string& text = type.extentTexts[axis];
  if (const std::optional<DimSymbol> symbol = dim.asSymbol()) {
    const uint32_t number = symbol->value();
    details.push_back({"symbol", text});
    details.push_back({"expected", fmt::format("{}", *symbols[number])});
    details.push_back({"bound_by", bindingText(number)});
    return Error(ErrorCode::InvalidArgument, fmt::format("{}, but {} was bound to {} by {}", where, text,
                                                         *symbols[number], bindingText(number)));
  }
  std::vector<DimSymbol> used;
  dim.collectSymbols(used);
  std::vector<std::string> bound;
  for (const DimSymbol symbol : used)
    bound.push_back(fmt::format("{} was bound to {} by {}", declared_.symbols[symbol.value()],
                                *symbols[symbol.value()], bindingText(symbol.value())));
  const Result<int64_t> expected = dim.evaluate([&](DimSymbol symbol) { return symbols[symbol.value()]; });
  const std::string expectedText =
      expected.has_value() ? fmt::format("{}", expected.assume_value()) : std::string("no extent");
  details.push_back({"symbol", text});
  details.push_back({"expected", expectedText});
  return Error(ErrorCode::InvalidArgument, fmt::format("{}, expected {} = {}, where {}", where, text,
                                                       expectedText, fmt::join(bound, ", ")));
}

int64_t EntryPoint::extentAt(const Binding& binding, std::span<const Value* const> values) const {
  const Value& value = *values[binding.place.parameter];
  if (binding.place.path.empty()) return value.extents()[binding.axis];
  Object* object = value.object();
  const TypeInfo* type = &parameters_[binding.place.parameter].type;
  for (const uint32_t field : binding.place.path) {
    object = object->slots()[type->definition->constructors.front().fields[field].slot];
    type = &type->fields->front()[field];
  }
  return asTensor(object)->shape()[binding.axis];
}

// An extent over a symbol that nothing binds may be anything.
bool EntryPoint::isAsDeclared(const DimExpr& dim, int64_t found, Symbols symbols) const {
  if (const std::optional<DimSymbol> symbol = dim.asSymbol())
    return symbol->value() >= symbols.size() || symbols[symbol->value()].value_or(found) == found;
  std::vector<DimSymbol> used;
  dim.collectSymbols(used);
  for (const DimSymbol symbol : used)
    if (symbol.value() >= symbols.size() || !symbols[symbol.value()]) return true;
  const Result<int64_t> expected = dim.evaluate([&](DimSymbol symbol) { return symbols[symbol.value()]; });
  return expected.has_value() && expected.assume_value() == found;
}

Result<void> EntryPoint::checkAll(std::span<const Value* const> values, ErrorDetails& details) const {
  boost::container::small_vector<std::optional<int64_t>, 16> symbols(bindings_.size());
  for (size_t i = 0; i < bindings_.size(); ++i)
    if (bindings_[i].isBound()) symbols[i] = extentAt(bindings_[i], values);
  const Symbols known(symbols.data(), symbols.size());
  const auto lookUp = [&](DimSymbol symbol) -> std::optional<int64_t> {
    return symbol.value() < known.size() ? known[symbol.value()] : std::nullopt;
  };
  for (const ExtentCheck& check : checks_) {
    const int64_t found = values[check.parameter]->extents()[check.axis];
    const TypeInfo& type = parameters_[check.parameter].type;
    if (!isAsDeclared(type.dims[check.axis], found, known))
      return mismatch(check.parameter, "", type, check.axis, found, known, details);
  }
  for (const uint32_t index : walks_) {
    const std::optional<WrongExtent> wrong =
        findWrongExtent(parameters_[index].type, values[index]->object(),
                        [&](const DimExpr& dim, int64_t found) { return isAsDeclared(dim, found, known); });
    if (wrong) return mismatch(index, wrong->place, *wrong->field, wrong->axis, wrong->found, known, details);
  }
  for (size_t i = 0; i < declared_.constraints.size(); ++i) {
    const DimConstraint& constraint = declared_.constraints[i];
    const Result<int64_t> lhs = constraint.lhs.evaluate(lookUp);
    const Result<int64_t> rhs = constraint.rhs.evaluate(lookUp);
    if (lhs.has_value() && rhs.has_value() &&
        holds(constraint.relation, lhs.assume_value(), rhs.assume_value()))
      continue;
    std::vector<DimSymbol> used;
    constraint.lhs.collectSymbols(used);
    constraint.rhs.collectSymbols(used);
    std::vector<std::string> bound;
    for (const DimSymbol symbol : used)
      bound.push_back(fmt::format("{} is {}, bound by {}", declared_.symbols[symbol.value()],
                                  known[symbol.value()].value_or(0), bindingText(symbol.value())));
    details = {{"constraint", constraintTexts_[i]}};
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("{} does not hold: {}", constraintTexts_[i], fmt::join(bound, ", ")));
  }
  return success();
}

}  // namespace baton::vm

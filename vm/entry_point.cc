#include "vm/entry_point.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <boost/container/small_vector.hpp>

#include "vm/data_check.h"
#include "vm/tensor_text.h"
#include "vm/value.h"

namespace baton::vm {

namespace {

std::string valueText(const Value& value) {
  switch (value.kind()) {
    case TypeKind::Tensor:
      return fmt::format("a {} tensor of shape {}", dtypeName(value.dtype()), shapeText(value.extents()));
    case TypeKind::Scalar: return fmt::format("a {} scalar", dtypeName(value.dtype()));
    case TypeKind::Tuple:
    case TypeKind::Adt:
    case TypeKind::Closure:
    case TypeKind::Ref: return fmt::format("a {}", value.type()->text);
  }
  return {};
}

}  // namespace

EntryPoint::EntryPoint(const Executable& executable, const bytecode::EntryPoint& declared,
                       const TypeTable& types)
    : executable_(executable),
      declared_(declared),
      result_(types.describe(declared.result, declared.symbols)) {
  uint32_t nextScalar = 0;
  uint32_t nextReference = 0;
  bindings_.resize(declared.symbols.size(), {kUnbound, 0});
  std::vector<std::string> parameterTexts;
  for (const bytecode::EntryPoint::Parameter& parameter : declared.parameters) {
    const auto index = static_cast<uint32_t>(parameters_.size());
    TypeInfo type = types.describe(parameter.type, declared.symbols);
    for (uint32_t axis = 0; axis < type.rank(); ++axis) {
      if (type.dims[axis].isConstant()) continue;
      const std::optional<DimSymbol> symbol = type.dims[axis].asSymbol();
      if (symbol && symbol->value() < bindings_.size() && bindings_[symbol->value()].parameter == kUnbound)
        bindings_[symbol->value()] = {index, axis};
      else
        checks_.push_back({index, axis});
    }
    parameterTexts.push_back(fmt::format("%{}: {}", parameter.name, type.text));
    uint32_t& next = type.kind == TypeKind::Scalar ? nextScalar : nextReference;
    parameters_.push_back({parameter.name, std::move(type), next++});
  }
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

size_t EntryPoint::findParameter(std::string_view name) const {
  const auto found = std::ranges::find(parameters_, name, &Parameter::name);
  return found == parameters_.end() ? SIZE_MAX : static_cast<size_t>(found - parameters_.begin());
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
  if (value.isChecked()) return success();
  if (std::optional<std::string> problem = findWrongExtent(parameter.type, value.object())) {
    details = {{"argument", parameter.name}};
    return Error(ErrorCode::InvalidArgument, fmt::format("argument %{}: {}", parameter.name, *problem));
  }
  value.setChecked();
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
      return mismatch(index, axis, extents[axis], {}, details);
  return success();
}

std::string EntryPoint::bindingText(uint32_t symbol) const {
  const Binding& binding = bindings_[symbol];
  if (binding.parameter == kUnbound) return "no argument";
  return fmt::format("dimension {} of argument %{}", binding.axis, parameters_[binding.parameter].name);
}

Error EntryPoint::mismatch(size_t index, size_t axis, int64_t found, std::span<const int64_t> symbols,
                           ErrorDetails& details) const {
  const Parameter& parameter = parameters_[index];
  const DimExpr& dim = parameter.type.dims[axis];
  const std::string where = fmt::format("argument %{}: dimension {} is {}", parameter.name, axis, found);
  details = {{"argument", parameter.name},
             {"dimension", fmt::format("{}", axis)},
             {"found", fmt::format("{}", found)}};
  if (const std::optional<int64_t> constant = dim.asConstant()) {
    details.push_back({"expected", fmt::format("{}", *constant)});
    return Error(ErrorCode::InvalidArgument, fmt::format("{}, expected {}", where, *constant));
  }
  const std::string& text = parameter.type.extentTexts[axis];
  if (const std::optional<DimSymbol> symbol = dim.asSymbol()) {
    const uint32_t number = symbol->value();
    details.push_back({"symbol", text});
    details.push_back({"expected", fmt::format("{}", symbols[number])});
    details.push_back({"bound_by", bindingText(number)});
    return Error(ErrorCode::InvalidArgument, fmt::format("{}, but {} was bound to {} by {}", where, text,
                                                         symbols[number], bindingText(number)));
  }
  std::vector<DimSymbol> used;
  dim.collectSymbols(used);
  std::vector<std::string> bound;
  for (const DimSymbol symbol : used)
    bound.push_back(fmt::format("{} was bound to {} by {}", declared_.symbols[symbol.value()],
                                symbols[symbol.value()], bindingText(symbol.value())));
  const Result<int64_t> expected =
      dim.evaluate([&](DimSymbol symbol) { return std::optional(symbols[symbol.value()]); });
  const std::string expectedText =
      expected.has_value() ? fmt::format("{}", expected.assume_value()) : std::string("no extent");
  details.push_back({"symbol", text});
  details.push_back({"expected", expectedText});
  return Error(ErrorCode::InvalidArgument, fmt::format("{}, expected {} = {}, where {}", where, text,
                                                       expectedText, fmt::join(bound, ", ")));
}

Result<void> EntryPoint::checkAll(std::span<const Value* const> values, ErrorDetails& details) const {
  boost::container::small_vector<int64_t, 16> symbols(bindings_.size(), 0);
  for (size_t i = 0; i < bindings_.size(); ++i)
    if (bindings_[i].parameter != kUnbound)
      symbols[i] = values[bindings_[i].parameter]->extents()[bindings_[i].axis];
  const std::span<const int64_t> known(symbols.data(), symbols.size());
  const auto lookUp = [&](DimSymbol symbol) -> std::optional<int64_t> {
    if (symbol.value() >= known.size() || bindings_[symbol.value()].parameter == kUnbound)
      return std::nullopt;
    return known[symbol.value()];
  };
  for (const ExtentCheck& check : checks_) {
    const int64_t found = values[check.parameter]->extents()[check.axis];
    const DimExpr& dim = parameters_[check.parameter].type.dims[check.axis];
    if (const std::optional<DimSymbol> symbol = dim.asSymbol()) {
      if (known[symbol->value()] != found)
        return mismatch(check.parameter, check.axis, found, known, details);
      continue;
    }
    const Result<int64_t> expected = dim.evaluate(lookUp);
    if (!expected.has_value() || expected.assume_value() != found)
      return mismatch(check.parameter, check.axis, found, known, details);
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
                                  known[symbol.value()], bindingText(symbol.value())));
    details = {{"constraint", constraintTexts_[i]}};
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("{} does not hold: {}", constraintTexts_[i], fmt::join(bound, ", ")));
  }
  return success();
}

}  // namespace baton::vm

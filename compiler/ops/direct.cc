#include "compiler/ops/direct.h"

#include <algorithm>
#include <unordered_set>

#include "compiler/ir/type_walk.h"
#include "compiler/ops/arrange/slice.h"
#include "compiler/ops/call_contexts.h"

namespace baton::ops {

namespace {

bool occursIn(const DimExpr& expr, const std::unordered_set<uint32_t>& known) {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  return std::all_of(symbols.begin(), symbols.end(), [&](DimSymbol s) { return known.contains(s.value()); });
}

void addSymbols(const DimExpr& expr, std::unordered_set<uint32_t>& known) {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  for (DimSymbol symbol : symbols) known.insert(symbol.value());
}

/// Whether the elements of the result are expressions over what the operands tell: an element
/// that is not known is a symbol that the result itself gives its value to.
bool hasKnownElements(ir::Module& module, const ir::Function& function, const ir::Binding& binding) {
  const ir::VarInfo& result = function.var(binding.var);
  if (!result.valueDims || !result.type->isTensor() || result.type->rank() > 1) return false;
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  std::unordered_set<uint32_t> known;
  for (const ir::Atom& arg : call.args) {
    for (const DimExpr& dim : module.typeOf(function, arg)->dims()) addSymbols(dim, known);
    if (!arg.isVar() || !function.var(arg.var()).valueDims) continue;
    for (const DimExpr& dim : *function.var(arg.var()).valueDims) addSymbols(dim, known);
  }
  for (const auto& [name, value] : call.attrs.entries())
    if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value))
      for (const DimExpr& dim : *dims) addSymbols(dim, known);
  return std::all_of(result.valueDims->begin(), result.valueDims->end(),
                     [&](const DimExpr& dim) { return !dim.isTooLarge() && occursIn(dim, known); });
}

bool hasTooLargeExtent(ir::TypeRef type) {
  bool found = false;
  ir::forEachOwnTensor(type, [&](ir::TypeRef tensor) {
    for (const DimExpr& dim : tensor->dims()) found = found || dim.isTooLarge();
  });
  return found;
}

std::optional<DimExpr> firstRowOfSlice(ir::Module& module, const ir::Function& function,
                                       const ir::Binding& binding) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  std::vector<KnownInput> inputs;
  for (const ir::Atom& arg : call.args) inputs.push_back(knownOperand(module, function, arg));
  // Elements that are not known would become symbols that nobody gives a value to.
  for (size_t i = 1; i < inputs.size(); ++i)
    if (!inputs[i].values) return std::nullopt;
  const DimKnowledge nothing;
  KnownDims context(inputs, nothing, static_cast<uint32_t>(module.dimSymbols.size()));
  Result<std::vector<SliceAxis>> axes = sliceAxes({call.op, &call.attrs, call.args.size()}, context);
  if (!axes.has_value()) return std::nullopt;
  const std::vector<SliceAxis>& slices = axes.assume_value();
  const std::span<const DimExpr> result = function.var(binding.var).type->dims();
  for (size_t axis = 0; axis < slices.size(); ++axis) {
    if (slices[axis].stride != 1) return std::nullopt;
    const bool isWhole = slices[axis].begin.isZero() && inputs[0].dims[axis] == result[axis];
    if (axis != 0 && !isWhole) return std::nullopt;
  }
  return slices[0].begin;
}

}  // namespace

DirectCall directCall(ir::Module& module, const ir::Function& function, const ir::Binding& binding) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  const std::string_view name = call.op->name;
  const ir::TypeRef result = function.var(binding.var).type;
  std::vector<ir::TypeRef> types;
  for (const ir::Atom& arg : call.args) types.push_back(module.typeOf(function, arg));
  if (hasTooLargeExtent(result) || std::any_of(types.begin(), types.end(), hasTooLargeExtent))
    return {DirectForm::Unreached, {}};
  if (!result->isTensor()) return {};
  const bool allScalars =
      std::all_of(types.begin(), types.end(), [](ir::TypeRef type) { return type->isScalar(); });

  if (result->isScalar() && allScalars) {
    std::vector<DType> inputs;
    for (ir::TypeRef type : types) inputs.push_back(type->dtype());
    if (scalarRecipe(call, inputs, result->dtype())) return {DirectForm::Scalar, {}};
  }
  if (hasKnownElements(module, function, binding)) return {DirectForm::DimValues, {}};
  if (types.empty() || types[0]->isScalar()) return {};
  if (name == "copy" || name == "annotation.stop_fusion" ||
      (name == "cast" && types[0]->dtype() == result->dtype()))
    return {DirectForm::Same, {}};
  if (name == "reshape" || name == "expand_dims" || name == "squeeze")
    return {result->isScalar() ? DirectForm::LoadElement : DirectForm::View, {}};
  if (name == "take" && types[1]->isScalar() && call.attrs.intOf("batch_dims") == 0) {
    const bool isVector = types[0]->rank() == 1;
    const std::optional<int64_t> axis = call.attrs.get<int64_t>("axis");
    if (isVector) return {DirectForm::TakeElement, {}};
    if (axis == 0 || axis == -types[0]->rank()) return {DirectForm::TakeRow, {}};
  }
  if (name == "strided_slice")
    if (const std::optional<DimExpr> first = firstRowOfSlice(module, function, binding))
      return {DirectForm::SliceRows, *first};
  return {};
}

}  // namespace baton::ops

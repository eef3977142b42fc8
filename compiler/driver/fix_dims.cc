#include "compiler/driver/fix_dims.h"

#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/walk.h"

namespace baton::driver {

namespace {

/// Symbols in a declared type, whatever it nests.
void collectSymbols(ir::TypeRef root, std::vector<DimSymbol>& out) {
  std::vector<ir::TypeRef> work{root};
  while (!work.empty()) {
    const ir::TypeRef type = work.back();
    work.pop_back();
    if (type->isTensor())
      for (const DimExpr& dim : type->dims()) dim.collectSymbols(out);
    else
      work.insert(work.end(), type->elements().begin(), type->elements().end());
    if (type->isFunction()) work.push_back(type->result());
  }
}

void substitute(ir::Module& module, ir::Function& function,
                const std::unordered_map<DimSymbol, DimExpr>& values) {
  const auto f = [&](DimSymbol symbol) -> std::optional<DimExpr> {
    const auto found = values.find(symbol);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
  const auto replace = [&](ir::TypeRef& type) {
    if (type != nullptr) type = module.types.substituteDims(type, f);
  };
  for (ir::VarInfo& var : function.vars) replace(var.declaredType);
  replace(function.declaredResult);
  for (DimConstraint& constraint : function.where) {
    constraint.lhs = constraint.lhs.substitute(f);
    constraint.rhs = constraint.rhs.substitute(f);
  }
  for (ir::Block& block : function.blocks)
    for (ir::Binding& binding : block.bindings) {
      if (auto* lambda = std::get_if<ir::Lambda>(&binding.rhs)) replace(lambda->declaredResult);
      auto* call = std::get_if<ir::CallOp>(&binding.rhs);
      if (call == nullptr) continue;
      std::vector<ir::Attrs::Entry> changed;
      for (const auto& [name, value] : call->attrs.entries())
        if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value)) {
          std::vector<DimExpr> replaced;
          for (const DimExpr& dim : *dims) replaced.push_back(dim.substitute(f));
          changed.emplace_back(name, std::move(replaced));
        }
      for (auto& [name, value] : changed) call->attrs.set(name, std::move(value));
    }
}

}  // namespace

Result<void> fixDims(std::span<const std::pair<std::string, int64_t>> dims, ir::Module& module) {
  if (dims.empty()) return success();
  std::vector<bool> isUsed(dims.size());
  for (ir::Function& function : module.functions) {
    if (!function.isExported) continue;
    std::vector<DimSymbol> symbols;
    for (ir::VarId param : function.params)
      if (const ir::TypeRef type = function.var(param).declaredType; type != nullptr)
        collectSymbols(type, symbols);
    std::unordered_map<DimSymbol, DimExpr> values;
    for (DimSymbol symbol : symbols) {
      if (symbol == ir::kAnyDim || symbol.value() >= module.dimSymbols.size()) continue;
      for (size_t i = 0; i < dims.size(); ++i)
        if (module.dimSymbols.name(symbol) == dims[i].first) {
          isUsed[i] = true;
          values.insert_or_assign(symbol, DimExpr::constant(dims[i].second));
        }
    }
    if (!values.empty()) substitute(module, function, values);
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i].second < 0)
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("dim {}={}: negative", dims[i].first, dims[i].second));
    if (!isUsed[i])
      return Error(ErrorCode::InvalidArgument,
                   fmt::format("dim {}: no parameter of an exported function has an extent of that name",
                               dims[i].first));
  }
  return success();
}

}  // namespace baton::driver

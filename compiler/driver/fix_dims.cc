#include "compiler/driver/fix_dims.h"

#include <optional>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "compiler/ir/type_walk.h"
#include "compiler/passes/dims.h"

namespace baton::driver {

Result<void> fixDims(std::span<const std::pair<std::string, int64_t>> dims, ir::Module& module) {
  if (dims.empty()) return success();
  std::vector<bool> isUsed(dims.size());
  for (ir::Function& function : module.functions) {
    if (!function.isExported) continue;
    std::unordered_map<DimSymbol, DimExpr> values;
    const auto fix = [&](DimSymbol symbol) {
      if (symbol.value() >= module.dimSymbols.size()) return;
      for (size_t i = 0; i < dims.size(); ++i)
        if (module.dimSymbols.name(symbol) == dims[i].first) {
          isUsed[i] = true;
          values.insert_or_assign(symbol, DimExpr::constant(dims[i].second));
        }
    };
    for (ir::VarId param : function.params)
      if (const ir::TypeRef type = function.var(param).declaredType) ir::forEachSymbol(type, fix);
    if (values.empty()) continue;
    passes::DimRewriter rewriter(module.types, [&](DimSymbol symbol) -> std::optional<DimExpr> {
      const auto found = values.find(symbol);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    });
    rewriter.apply(function);
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

// Putting one value in the place of another although their types may name extents
// differently.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/eval/symbol_binders.h"
#include "compiler/ir/ir.h"
#include "compiler/passes/dims.h"

namespace baton::passes {

/// Collects what symbols stand for while variables are replaced in program order, and in the
/// end rewrites the function.
class AliasTypes {
 public:
  AliasTypes(ir::Module& module, ir::Function& function)
      : module_(module), function_(function), binders_(function) {}

  /// Whether `atom` can stand wherever `var`, which is bound to it, stands. If so, symbols
  /// that only `var` gives values to are from now on what `atom` says.
  bool unify(ir::VarId var, ir::Atom atom);
  /// With what is known so far.
  DimExpr resolve(const DimExpr& expr) const;
  bool empty() const { return map_.empty(); }
  void apply();

 private:
  using Equations = std::vector<std::pair<DimSymbol, DimExpr>>;
  bool match(ir::VarId var, const DimExpr& formal, const DimExpr& actual, Equations& equations) const;
  bool matchElements(ir::VarId var, ir::Atom atom, Equations& equations, bool& moves) const;

  ir::Module& module_;
  ir::Function& function_;
  eval::SymbolBinders binders_;
  std::unordered_map<DimSymbol, DimExpr> map_;
};

}  // namespace baton::passes

#include "compiler/passes/alias.h"

#include <algorithm>

#include "compiler/ir/dim_size.h"
#include "compiler/ops/call_contexts.h"

namespace baton::passes {

using ir::Atom;
using ir::TypeRef;
using ir::VarId;

DimExpr AliasTypes::resolve(const DimExpr& expr) const {
  if (map_.empty() || expr.isConstant()) return expr;
  return expr.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
    auto at = map_.find(symbol);
    return at == map_.end() ? std::nullopt : std::optional<DimExpr>(at->second);
  });
}

/// Whether the extents agree, or do when a symbol that `var` alone binds is what the actual is.
bool AliasTypes::match(VarId var, const DimExpr& formal, const DimExpr& actual, Equations& equations) const {
  DimExpr left = resolve(formal);
  const DimExpr right = resolve(actual);
  const auto known = [&](DimSymbol symbol) -> std::optional<DimExpr> {
    for (const auto& [name, value] : equations)
      if (name == symbol) return value;
    return std::nullopt;
  };
  left = left.substitute(known);
  if (left == right) return true;
  const std::optional<DimSymbol> symbol = left.asSymbol();
  if (!symbol || binders_.count(*symbol) != 1 || ir::sizeOf(right) > ir::kMaxReplacementSize) return false;
  const std::vector<DimSymbol>& bound = binders_.boundBy(var);
  if (std::find(bound.begin(), bound.end(), *symbol) == bound.end()) return false;
  std::vector<DimSymbol> inside;
  right.collectSymbols(inside);
  if (std::find(inside.begin(), inside.end(), *symbol) != inside.end()) return false;
  equations.emplace_back(*symbol, right);
  return true;
}

/// `moves` is set when the atom is a variable that takes over what `var` says of elements.
bool AliasTypes::matchElements(VarId var, Atom atom, Equations& equations, bool& moves) const {
  const std::optional<std::vector<DimExpr>>& formal = function_.var(var).valueDims;
  moves = false;
  if (!formal) return true;
  if (const std::optional<std::vector<DimExpr>> actual = ops::elementsOf(module_, function_, atom)) {
    if (actual->size() != formal->size()) return false;
    for (size_t i = 0; i < actual->size(); ++i)
      if (!match(var, (*formal)[i], (*actual)[i], equations)) return false;
    return true;
  }
  if (!atom.isVar()) return false;
  const std::vector<DimSymbol>& bound = binders_.boundBy(var);
  moves = std::all_of(formal->begin(), formal->end(), [&](const DimExpr& element) {
    const std::optional<DimSymbol> symbol = element.asSymbol();
    return symbol && binders_.count(*symbol) == 1 && !map_.contains(*symbol) &&
           std::find(bound.begin(), bound.end(), *symbol) != bound.end();
  });
  return moves;
}

bool AliasTypes::unify(VarId var, Atom atom) {
  const TypeRef formal = function_.var(var).type;
  const TypeRef actual = module_.typeOf(function_, atom);
  Equations equations;
  if (formal != actual || !map_.empty()) {
    std::vector<std::pair<TypeRef, TypeRef>> stack{{formal, actual}};
    while (!stack.empty()) {
      const auto [left, right] = stack.back();
      stack.pop_back();
      if (left->kind() != right->kind()) return false;
      if (left->isTensor()) {
        if (left->dtype() != right->dtype() || left->rank() != right->rank()) return false;
        for (size_t axis = 0; axis < left->dims().size(); ++axis)
          if (!match(var, left->dims()[axis], right->dims()[axis], equations)) return false;
      } else if (left->isTuple()) {
        if (left->elements().size() != right->elements().size()) return false;
        for (size_t i = left->elements().size(); i-- > 0;)
          stack.emplace_back(left->elements()[i], right->elements()[i]);
      }
    }
  }
  bool moves = false;
  if (!matchElements(var, atom, equations, moves)) return false;
  if (moves) function_.var(atom.var()).valueDims = function_.var(var).valueDims;
  for (auto& [symbol, expr] : equations) map_.insert_or_assign(symbol, std::move(expr));
  return true;
}

void AliasTypes::apply() {
  if (map_.empty()) return;
  DimRewriter rewriter(module_.types, [&](DimSymbol symbol) -> std::optional<DimExpr> {
    auto at = map_.find(symbol);
    // What a symbol stands for may hold symbols that were settled later.
    return at == map_.end() ? std::nullopt : std::optional<DimExpr>(at->second);
  });
  rewriter.apply(function_);
}

}  // namespace baton::passes

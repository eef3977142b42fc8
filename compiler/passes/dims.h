// Extents in the types of a function: renaming and replacing symbols, and the types that
// new variables get. `?` (ir::kAnyDim) is not a symbol and is never replaced.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// Replaces symbols wherever extents stand. `map` answers nothing for a symbol that stays.
/// It must give the same answer each time, since types are rewritten once and remembered.
class DimRewriter {
 public:
  using Map = std::function<std::optional<DimExpr>(DimSymbol)>;
  DimRewriter(ir::TypeTable& types, Map map) : types_(types), map_(std::move(map)) {}

  DimExpr dim(const DimExpr& expr);
  ir::TypeRef type(ir::TypeRef type);  ///< null stays null
  void apply(ir::VarInfo& info);
  void apply(ir::Attrs& attrs);
  void apply(std::vector<ir::Obligation>& obligations);
  void apply(std::vector<DimConstraint>& constraints);
  /// Types and attributes of the right-hand side itself, not of blocks inside it.
  void apply(ir::Rhs& rhs);
  /// Variables, result, constraints and everything in every block.
  void apply(ir::Function& function);

 private:
  ir::TypeTable& types_;
  Map map_;
  std::unordered_map<ir::TypeRef, ir::TypeRef> done_;
};

/// A map that gives each symbol that it has no answer for a fresh one of the same name.
class FreshSymbols {
 public:
  explicit FreshSymbols(ir::DimSymbolTable& table) : table_(table) {}
  void set(DimSymbol symbol, DimExpr expr) { map_.insert_or_assign(symbol, std::move(expr)); }
  const DimExpr* find(DimSymbol symbol) const;
  std::optional<DimExpr> operator()(DimSymbol symbol);

 private:
  ir::DimSymbolTable& table_;
  std::unordered_map<DimSymbol, DimExpr> map_;
};

/// What holds wherever the function runs: its own extents and constraints. Nothing when these
/// contradict each other, for a function that never runs.
std::optional<DimKnowledge> entryKnowledge(const ir::Function& function);

/// Symbols of the extents that the binding computes with: of its type, its elements and its
/// attributes. What its obligations speak of is asked for apart.
std::vector<DimSymbol> symbolsOf(const ir::Function& function, const ir::Binding& binding);
std::vector<DimSymbol> symbolsOf(const std::vector<ir::Obligation>& obligations);

/// Rebuilds the tensors with extents that a value of the type consists of: itself, or elements
/// of tuples, but not what stands inside data, functions or cells.
ir::TypeRef mapOwnTensors(ir::TypeTable& types, ir::TypeRef type,
                          const std::function<ir::TypeRef(ir::TypeRef)>& f);

/// A variable's type from the type of a field or element: each own extent `?` becomes a
/// fresh symbol.
ir::TypeRef openDims(ir::Module& module, ir::TypeRef type);

/// The type of a variable whose extents are read from its value: own extents that are not
/// numbers become fresh symbols, equal ones the same.
ir::TypeRef freshDims(ir::Module& module, ir::TypeRef type);

/// Walks two types of the same structure and calls `f(formal, actual)` for each pair of
/// tensors that stand in the same place, own or nested, where the formal one has symbols.
void forEachTensorPair(ir::TypeRef formal, ir::TypeRef actual,
                       const std::function<void(ir::TypeRef, ir::TypeRef)>& f);

}  // namespace baton::passes

// Who relies on whose check. Typing states a check of extents once, as an obligation of the
// binding that needs it, and takes it for granted in what comes after: that must not move to
// before it.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// Extents of a function that obligations and constraints tie together, directly or not: what
/// follows from a check is about extents that are tied to those in it. Stays right while bindings
/// move.
class ExtentChecks {
 public:
  explicit ExtentChecks(const ir::Function& function);

  /// One extent for all that are tied together; `?` where a check cannot hold.
  using Checked = std::unordered_set<DimSymbol>;
  /// Adds what the obligations of the binding are about.
  void add(const ir::Binding& binding, Checked& checked) const;
  /// Whether the binding may compute with extents that are right because of such checks.
  bool mayRelyOn(const Checked& checked, ir::Module& module, const ir::Function& function,
                 const ir::Binding& binding) const;

 private:
  DimSymbol rootOf(DimSymbol symbol) const;
  void tie(const std::vector<DimSymbol>& symbols);

  mutable std::unordered_map<DimSymbol, DimSymbol> towardsRoot_;  // followed further as it is used
};

}  // namespace baton::passes

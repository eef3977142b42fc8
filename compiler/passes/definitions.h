// What a variable was bound to: for passes that look at an operator together with those
// that made its operands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "compiler/ir/ir.h"

namespace baton::passes {

/// Bindings of a function by variable. Valid until bindings are moved; right-hand sides may
/// change in place.
class Definitions {
 public:
  explicit Definitions(const ir::Function& function);

  /// The binding of the variable, aliases without checks followed; null for parameters and
  /// pattern variables.
  const ir::Binding* find(ir::Atom atom) const;
  /// What an atom is another name for.
  ir::Atom resolve(ir::Atom atom) const;
  template <class T>
  const T* as(ir::Atom atom) const {
    const ir::Binding* binding = find(atom);
    return binding == nullptr ? nullptr : std::get_if<T>(&binding->rhs);
  }
  /// Type of the variable that `atom`, a variable, is another name for.
  ir::TypeRef typeOf(ir::Atom atom) const { return function_.var(resolve(atom).var()).type; }
  /// The operator call, when it is one of that operator.
  const ir::CallOp* call(ir::Atom atom, std::string_view name) const;

 private:
  const ir::Binding* at(ir::VarId var) const;
  struct Place {
    ir::BlockId block = ir::kNoBlock;
    uint32_t index = 0;
  };
  const ir::Function& function_;
  std::vector<Place> places_;               // by variable
  mutable std::vector<ir::Atom> resolved_;  // by variable: how far its aliases were followed
};

/// A scalar whose value typing knows as an expression over extents.
std::optional<DimExpr> extentOf(const ir::Module& module, const ir::Function& function,
                                const Definitions& definitions, ir::Atom atom);

/// The one value of all elements, as 64-bit form: of a constant, or of what zeros, ones, full
/// and their likes make. Nothing when elements differ or there are many to compare.
std::optional<uint64_t> splatOf(const ir::Module& module, const Definitions& definitions, ir::Atom atom);

}  // namespace baton::passes

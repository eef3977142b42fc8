// Tools to take functions apart and put them together: who uses what, substitution of
// operands, and copies of blocks.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/unique_names.h"
#include "compiler/passes/dims.h"

namespace baton::passes {

/// Number of uses of each variable as operand or result of a block, and of joins by CallJoin.
std::vector<uint32_t> useCounts(const ir::Function& function);

/// Bindings, and blocks inside of them: what is live across many branches is costly.
size_t sizeOf(const ir::Function& function);

/// Puts atoms in the place of variables, everywhere in the function at once. A replacement
/// that is itself replaced is followed; there must be no cycle.
class Substitution {
 public:
  explicit Substitution(const ir::Function& function) : map_(function.vars.size()) {}
  void set(ir::VarId var, ir::Atom atom);
  bool empty() const { return isEmpty_; }
  ir::Atom resolve(ir::Atom atom);
  void apply(ir::Function& function);
  /// Operands of one right-hand side.
  void apply(ir::Rhs& rhs);

 private:
  std::vector<std::optional<ir::Atom>> map_;
  bool isEmpty_ = true;
};

/// Copies blocks of one function (its arenas) into another, or into itself. Variables bound
/// inside are new; what is used from outside is mapped by `mapVar`, or stays as it is.
class Cloner {
 public:
  /// `to` may be the function that holds `from`. Neither module.functions nor `from` may
  /// change, except through the cloner, while it is in use.
  Cloner(ir::Module& module, const ir::Function& from, ir::Function& to);

  void mapVar(ir::VarId var, ir::Atom atom);
  /// Applied to the types, extents and attributes that are copied; may be empty.
  void setDims(DimRewriter* dims) { dims_ = dims; }

  /// A new variable for one that is bound inside; what refers to the old one will refer to it.
  ir::VarId bind(ir::VarId var);
  ir::BlockId clone(ir::BlockId root);
  ir::Atom map(ir::Atom atom) const;

 private:
  ir::PatternId clonePattern(ir::PatternId root);
  void mapInside(ir::Rhs& rhs);

  ir::Module& module_;
  const ir::Function& from_;
  ir::Function& to_;
  std::unordered_map<ir::VarId, ir::Atom> vars_;
  std::unordered_map<ir::BlockId, ir::BlockId> blocks_;
  DimRewriter* dims_ = nullptr;
};

/// Appends `binding` and gives back its variable.
ir::VarId append(ir::Function& function, ir::BlockId block, ir::VarInfo info, ir::Rhs rhs,
                 SourceLocation location = {});

/// Position of the binding of `var`, which the block has.
size_t indexOf(const ir::Block& block, ir::VarId var);

/// Puts bindings before the one at `index`, or at the end.
void insert(ir::Block& block, size_t index, std::vector<ir::Binding> bindings);

/// Of a function or join with these parameters.
ir::TypeRef functionType(ir::Module& module, const ir::Function& function,
                         const std::vector<ir::VarId>& params, ir::TypeRef result);

/// The obligations of the binding, which it loses, as a binding of their own.
ir::Binding checkOf(ir::Module& module, ir::Function& function, ir::Binding& binding);

/// Drops blocks, variables and patterns that the body cannot reach and renumbers the rest
/// in program order, so that what a function holds is what it needs.
void compact(ir::Module& module, ir::Function& function);

/// Names for new functions of a module, that none of its functions has.
class FunctionNames : public ir::UniqueNames {
 public:
  explicit FunctionNames(const ir::Module& module);
};

}  // namespace baton::passes

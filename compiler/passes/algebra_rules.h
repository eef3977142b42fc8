// What simplify-algebra knows of each operator: rules that give its result in a simpler way.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/dim.h"
#include "base/dtype.h"
#include "compiler/ir/ir.h"
#include "compiler/ir/op.h"
#include "compiler/passes/definitions.h"
#include "compiler/passes/fold.h"

namespace baton::passes {

/// What a rule asks of the operator that it looks at, and what it may answer with.
class RuleContext {
 public:
  RuleContext(ir::Module& module, const ir::Function& function, ConstantPool& pool);

  const ir::Function& function;
  const Definitions definitions;
  ir::TypeRef type = nullptr;  ///< of the result

  ir::TypeRef typeOf(ir::Atom atom) const { return module_.typeOf(function, atom); }
  DType dtype() const { return type->dtype(); }
  /// What the operand was made by, when that is such an operator.
  const ir::CallOp* inner(ir::Atom atom, std::string_view name) const { return definitions.call(atom, name); }
  bool isSame(ir::Atom a, ir::Atom b) const { return definitions.resolve(a) == definitions.resolve(b); }
  std::optional<uint64_t> splat(ir::Atom atom) const { return splatOf(module_, definitions, atom); }
  bool isAllBits(ir::Atom atom, uint64_t bits) const { return splat(atom) == bits; }
  /// Whether all elements of the operand are this number of its type.
  bool isAll(ir::Atom atom, int64_t number) const {
    return isAllBits(atom, convertScalar(static_cast<uint64_t>(number), DType::I64, typeOf(atom)->dtype()));
  }
  /// How two scalars compare as extents, with what the entry point checks of its own.
  Truth compare(ir::Atom left, Relation relation, ir::Atom right) const;

  /// The operand itself, when it has the type of the result.
  std::optional<ir::Rhs> same(ir::Atom atom) const;
  /// A number of the result's type; scalars only.
  std::optional<ir::Rhs> number(uint64_t bits);
  ir::ConstantId scalar(uint64_t bits);
  static ir::Rhs call(std::string_view name, std::vector<ir::Atom> args);

 private:
  ir::Module& module_;
  ConstantPool& pool_;
  std::optional<DimKnowledge> knowledge_;
};

/// Nothing when the operator stays. It has no check of its own.
using OperatorRule = std::optional<ir::Rhs> (*)(RuleContext& in, const ir::CallOp& call);
struct NamedRule {
  std::string_view op;
  OperatorRule rule;
};
std::span<const NamedRule> arithmeticRules();
std::span<const NamedRule> logicRules();
std::span<const NamedRule> shapeRules();
std::optional<ir::Rhs> simplerIf(RuleContext& in, const ir::If& branch);

}  // namespace baton::passes

#include "compiler/passes/algebra_rules.h"

#include <utility>

#include "compiler/passes/dims.h"

namespace baton::passes {

using ir::Atom;
using ir::Rhs;

RuleContext::RuleContext(ir::Module& module, const ir::Function& owner, ConstantPool& pool)
    : function(owner), definitions(owner), module_(module), pool_(pool), knowledge_(entryKnowledge(owner)) {}

Truth RuleContext::compare(Atom left, Relation relation, Atom right) const {
  if (!knowledge_) return Truth::Unknown;
  const std::optional<DimExpr> a = extentOf(module_, function, definitions, left);
  const std::optional<DimExpr> b = a ? extentOf(module_, function, definitions, right) : std::nullopt;
  return b ? knowledge_->decide(*a, relation, *b) : Truth::Unknown;
}

std::optional<Rhs> RuleContext::same(Atom atom) const {
  if (typeOf(atom) != type) return std::nullopt;
  return Rhs(ir::AtomRhs{atom});
}

std::optional<Rhs> RuleContext::number(uint64_t bits) {
  if (!type->isScalar()) return std::nullopt;
  return Rhs(ir::AtomRhs{scalar(bits)});
}

ir::ConstantId RuleContext::scalar(uint64_t bits) {
  ir::Constant constant{.dtype = dtype()};
  constant.bytes.resize(static_cast<size_t>(sizeBytes(dtype())));
  storeScalar(constant.bytes.data(), dtype(), bits);
  return pool_.add(std::move(constant));
}

Rhs RuleContext::call(std::string_view name, std::vector<Atom> args) {
  const ops::OpDef* op = ops::OpRegistry::instance().find(name);
  return ir::CallOp{op, ops::defaultAttrs(*op), std::move(args)};
}

}  // namespace baton::passes

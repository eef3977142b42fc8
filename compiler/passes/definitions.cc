#include "compiler/passes/definitions.h"

#include <algorithm>

#include "base/dtype.h"
#include "compiler/ir/op.h"
#include "compiler/ir/walk.h"
#include "compiler/ops/call_contexts.h"

namespace baton::passes {

using ir::Atom;
using ir::VarId;

Definitions::Definitions(const ir::Function& function)
    : function_(function), places_(function.vars.size()), resolved_(function.vars.size()) {
  for (uint32_t i = 0; i < function.vars.size(); ++i) resolved_[i] = VarId(i);
  for (ir::BlockId id : ir::blocksInOrder(function, function.body)) {
    const std::vector<ir::Binding>& bindings = function.block(id).bindings;
    for (uint32_t i = 0; i < bindings.size(); ++i) places_[bindings[i].var.value()] = {id, i};
  }
}

const ir::Binding* Definitions::at(VarId var) const {
  if (var.value() >= places_.size() || places_[var.value()].block == ir::kNoBlock) return nullptr;
  return &function_.block(places_[var.value()].block).bindings[places_[var.value()].index];
}

Atom Definitions::resolve(Atom atom) const {
  Atom end = atom;
  while (end.isVar() && end.var().value() < resolved_.size()) {
    Atom next = resolved_[end.var().value()];
    if (next == end) {
      const ir::Binding* binding = at(end.var());
      const auto* alias = binding == nullptr ? nullptr : std::get_if<ir::AtomRhs>(&binding->rhs);
      if (alias == nullptr || !binding->obligations.empty()) break;
      next = alias->atom;
    }
    end = next;
  }
  // Shorten the chain, so that long ones are followed once.
  while (atom.isVar() && atom != end) {
    Atom& here = resolved_[atom.var().value()];
    const Atom next = here == atom ? std::get<ir::AtomRhs>(at(atom.var())->rhs).atom : here;
    here = end;
    atom = next;
  }
  return end;
}

const ir::Binding* Definitions::find(Atom atom) const {
  const Atom end = resolve(atom);
  return end.isVar() ? at(end.var()) : nullptr;
}

const ir::CallOp* Definitions::call(Atom atom, std::string_view name) const {
  const auto* found = as<ir::CallOp>(atom);
  return found != nullptr && found->op->name == name ? found : nullptr;
}

std::optional<DimExpr> extentOf(const ir::Module& module, const ir::Function& function,
                                const Definitions& definitions, Atom atom) {
  atom = definitions.resolve(atom);
  if (atom.isVar()) {
    const ir::VarInfo& info = function.var(atom.var());
    if (!info.valueDims || info.valueDims->size() != 1 || !info.type->isScalar()) return std::nullopt;
    return info.valueDims->front();
  }
  if (!atom.isConstant() || !module.constant(atom.constant()).shape.empty()) return std::nullopt;
  const std::optional<std::vector<DimExpr>> elements = ops::elementsOf(module.constant(atom.constant()));
  return elements ? std::optional(elements->front()) : std::nullopt;
}

std::optional<uint64_t> splatOf(const ir::Module& module, const Definitions& definitions, Atom atom) {
  constexpr size_t kMaxCompared = 4096;
  atom = definitions.resolve(atom);
  if (atom.isConstant()) {
    const ir::Constant& constant = module.constant(atom.constant());
    if (constant.isExternal() || constant.bytes.empty() || constant.bytes.size() > kMaxCompared)
      return std::nullopt;
    const size_t size = static_cast<size_t>(sizeBytes(constant.dtype));
    for (size_t i = size; i < constant.bytes.size(); i += size)
      if (!std::equal(constant.bytes.begin(), constant.bytes.begin() + static_cast<ptrdiff_t>(size),
                      constant.bytes.begin() + static_cast<ptrdiff_t>(i)))
        return std::nullopt;
    return loadScalar(constant.bytes.data(), constant.dtype);
  }
  const auto* call = definitions.as<ir::CallOp>(atom);
  if (call == nullptr || !definitions.typeOf(atom)->isTensor()) return std::nullopt;
  const DType dtype = definitions.typeOf(atom)->dtype();
  if (call->op->name == "zeros" || call->op->name == "zeros_like") return 0;
  if (call->op->name == "ones" || call->op->name == "ones_like") return convertScalar(1, DType::I64, dtype);
  const size_t value = call->op->name == "full" ? 0 : call->op->name == "full_like" ? 1 : SIZE_MAX;
  if (value == SIZE_MAX) return std::nullopt;
  const Atom filled = definitions.resolve(call->args[value]);
  if (!filled.isConstant()) return std::nullopt;
  const ir::Constant& constant = module.constant(filled.constant());
  if (constant.isExternal() || !constant.shape.empty()) return std::nullopt;
  return convertScalar(loadScalar(constant.bytes.data(), constant.dtype), constant.dtype, dtype);
}

}  // namespace baton::passes

#include "compiler/passes/dims.h"

#include <algorithm>

#include "compiler/ir/attr_dims.h"
#include "compiler/ir/type_walk.h"

namespace baton::passes {

using ir::TypeRef;

DimExpr DimRewriter::dim(const DimExpr& expr) {
  return expr.substitute([&](DimSymbol symbol) -> std::optional<DimExpr> {
    return symbol == ir::kAnyDim ? std::nullopt : map_(symbol);
  });
}

TypeRef DimRewriter::type(TypeRef type) {
  if (type == nullptr || !type->hasSymbols()) return type;
  auto [at, isNew] = done_.try_emplace(type, nullptr);
  if (!isNew) return at->second;
  TypeRef result = types_.substituteDims(type, [&](DimSymbol symbol) -> std::optional<DimExpr> {
    return symbol == ir::kAnyDim ? std::nullopt : map_(symbol);
  });
  done_[type] = result;
  return result;
}

void DimRewriter::apply(ir::VarInfo& info) {
  info.type = type(info.type);
  info.declaredType = type(info.declaredType);
  if (info.valueDims)
    for (DimExpr& element : *info.valueDims) element = dim(element);
}

void DimRewriter::apply(ir::Attrs& attrs) {
  ir::mapDims(attrs, [&](const DimExpr& expr) { return dim(expr); });
}

void DimRewriter::apply(std::vector<ir::Obligation>& obligations) {
  for (ir::Obligation& obligation : obligations) {
    obligation.lhs = dim(obligation.lhs);
    obligation.rhs = dim(obligation.rhs);
    for (DimExpr& shown : obligation.shown) shown = dim(shown);
  }
}

void DimRewriter::apply(std::vector<DimConstraint>& constraints) {
  for (DimConstraint& constraint : constraints) {
    constraint.lhs = dim(constraint.lhs);
    constraint.rhs = dim(constraint.rhs);
  }
}

void DimRewriter::apply(ir::Rhs& rhs) {
  if (auto* call = std::get_if<ir::CallOp>(&rhs)) {
    apply(call->attrs);
  } else if (auto* lambda = std::get_if<ir::Lambda>(&rhs)) {
    lambda->declaredResult = type(lambda->declaredResult);
    apply(lambda->attrs);
  }
}

void DimRewriter::apply(ir::Function& function) {
  for (ir::VarInfo& info : function.vars) apply(info);
  function.result = type(function.result);
  function.declaredResult = type(function.declaredResult);
  apply(function.where);
  apply(function.attrs);
  for (ir::Block& block : function.blocks)
    for (ir::Binding& binding : block.bindings) {
      apply(binding.rhs);
      apply(binding.obligations);
    }
}

const DimExpr* FreshSymbols::find(DimSymbol symbol) const {
  auto at = map_.find(symbol);
  return at == map_.end() ? nullptr : &at->second;
}

std::optional<DimExpr> FreshSymbols::operator()(DimSymbol symbol) {
  auto [at, isNew] = map_.try_emplace(symbol);
  if (isNew) at->second = DimExpr::symbol(table_.add(std::string(table_.name(symbol))));
  return at->second;
}

std::optional<DimKnowledge> entryKnowledge(const ir::Function& function) {
  DimKnowledge knowledge;
  for (ir::VarId param : function.params)
    ir::forEachBoundSymbol(function.var(param).type, [&](DimSymbol symbol) { knowledge.addExtent(symbol); });
  for (const DimConstraint& constraint : function.where)
    if (!knowledge.assume(constraint).has_value()) return std::nullopt;
  return knowledge;
}

std::vector<DimSymbol> symbolsOf(const ir::Function& function, const ir::Binding& binding) {
  std::vector<DimSymbol> symbols;
  const auto collect = [&](const DimExpr& dim) { dim.collectSymbols(symbols); };
  const ir::VarInfo& info = function.var(binding.var);
  ir::forEachOwnTensor(
      info.type, [&](TypeRef type) { std::for_each(type->dims().begin(), type->dims().end(), collect); });
  if (info.valueDims) std::for_each(info.valueDims->begin(), info.valueDims->end(), collect);
  if (const auto* call = std::get_if<ir::CallOp>(&binding.rhs)) ir::forEachDim(call->attrs, collect);
  return symbols;
}

std::vector<DimSymbol> symbolsOf(const std::vector<ir::Obligation>& obligations) {
  std::vector<DimSymbol> symbols;
  for (const ir::Obligation& obligation : obligations) {
    obligation.lhs.collectSymbols(symbols);
    obligation.rhs.collectSymbols(symbols);
    for (const DimExpr& shown : obligation.shown) shown.collectSymbols(symbols);
  }
  return symbols;
}

TypeRef mapOwnTensors(ir::TypeTable& types, TypeRef root, const std::function<TypeRef(TypeRef)>& f) {
  if (!root->hasOwnDims()) return root;
  if (root->isTensor()) return f(root);
  // Tuples are visited once per occurrence: two elements of one type are two values.
  struct Frame {
    TypeRef tuple;
    std::vector<TypeRef> elements;
  };
  std::vector<Frame> stack;
  stack.push_back({root, {}});
  while (true) {
    Frame& top = stack.back();
    if (top.elements.size() < top.tuple->elements().size()) {
      TypeRef element = top.tuple->elements()[top.elements.size()];
      if (element->isTuple() && element->hasOwnDims())
        stack.push_back({element, {}});
      else
        top.elements.push_back(element->hasOwnDims() ? f(element) : element);
      continue;
    }
    TypeRef done = types.tuple(std::move(top.elements));
    stack.pop_back();
    if (stack.empty()) return done;
    stack.back().elements.push_back(done);
  }
}

TypeRef openDims(ir::Module& module, TypeRef type) {
  return mapOwnTensors(module.types, type, [&](TypeRef tensor) -> TypeRef {
    const DimExpr any = DimExpr::symbol(ir::kAnyDim);
    std::vector<DimExpr> dims(tensor->dims().begin(), tensor->dims().end());
    bool changed = false;
    for (DimExpr& dim : dims)
      if (dim == any) {
        dim = DimExpr::symbol(module.dimSymbols.add("d"));
        changed = true;
      }
    return changed ? module.types.tensor(tensor->dtype(), std::move(dims)) : tensor;
  });
}

TypeRef freshDims(ir::Module& module, TypeRef type) {
  struct Hash {
    size_t operator()(const DimExpr& expr) const { return expr.hash(); }
  };
  std::unordered_map<DimExpr, DimExpr, Hash> fresh;
  const DimExpr any = DimExpr::symbol(ir::kAnyDim);
  return mapOwnTensors(module.types, type, [&](TypeRef tensor) -> TypeRef {
    std::vector<DimExpr> dims(tensor->dims().begin(), tensor->dims().end());
    for (DimExpr& dim : dims) {
      if (dim.isConstant()) continue;
      if (dim == any) {
        dim = DimExpr::symbol(module.dimSymbols.add("d"));
        continue;
      }
      auto [at, isNew] = fresh.try_emplace(dim);
      if (isNew) {
        std::optional<DimSymbol> symbol = dim.asSymbol();
        at->second = DimExpr::symbol(
            module.dimSymbols.add(symbol ? std::string(module.dimSymbols.name(*symbol)) : std::string("d")));
      }
      dim = at->second;
    }
    return module.types.tensor(tensor->dtype(), std::move(dims));
  });
}

void forEachTensorPair(TypeRef formal, TypeRef actual, const std::function<void(TypeRef, TypeRef)>& f) {
  std::vector<std::pair<TypeRef, TypeRef>> stack{{formal, actual}};
  while (!stack.empty()) {
    auto [a, b] = stack.back();
    stack.pop_back();
    if (!a->hasSymbols() || a->kind() != b->kind()) continue;
    if (a->isTensor()) {
      if (a->rank() == b->rank()) f(a, b);
      continue;
    }
    if (a->kind() == ir::TypeKind::Function) stack.emplace_back(a->result(), b->result());
    const size_t count = std::min(a->elements().size(), b->elements().size());
    for (size_t i = count; i-- > 0;) stack.emplace_back(a->elements()[i], b->elements()[i]);
  }
}

}  // namespace baton::passes

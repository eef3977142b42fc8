#include "compiler/ir/ir.h"

#include "base/error.h"

namespace baton::ir {

VarId Function::addVar(VarInfo info) {
  vars.push_back(std::move(info));
  return VarId(static_cast<uint32_t>(vars.size() - 1));
}

BlockId Function::addBlock() {
  blocks.emplace_back();
  return BlockId(static_cast<uint32_t>(blocks.size() - 1));
}

PatternId Function::addPattern(Pattern pattern) {
  patterns.push_back(std::move(pattern));
  return PatternId(static_cast<uint32_t>(patterns.size() - 1));
}

std::optional<GlobalId> Module::findFunction(std::string_view name) const {
  for (size_t i = 0; i < functions.size(); ++i)
    if (functions[i].name == name) return GlobalId(static_cast<uint32_t>(i));
  return std::nullopt;
}

std::optional<TypeDefId> Module::findTypeDef(std::string_view name) const {
  for (size_t i = 0; i < typeDefs.size(); ++i)
    if (typeDefs[i].name == name) return TypeDefId(static_cast<uint32_t>(i));
  return std::nullopt;
}

ConstantId Module::addConstant(Constant constant) {
  constants.push_back(std::move(constant));
  return ConstantId(static_cast<uint32_t>(constants.size() - 1));
}

ConstantId Module::addScalar(DType dtype, uint64_t bits) {
  Constant constant;
  constant.dtype = dtype;
  constant.bytes.resize(static_cast<size_t>(sizeBytes(dtype)));
  storeScalar(constant.bytes.data(), dtype, bits);
  return addConstant(std::move(constant));
}

TypeVarId Module::addTypeVar(std::string name) {
  typeVarNames.push_back(std::move(name));
  return TypeVarId(static_cast<uint32_t>(typeVarNames.size() - 1));
}

TypeRef Module::typeOf(ConstantId id) {
  const Constant& value = constant(id);
  std::vector<DimExpr> dims;
  for (int64_t extent : value.shape) dims.push_back(DimExpr::constant(extent));
  return types.tensor(value.dtype, std::move(dims));
}

TypeRef Module::typeOf(GlobalId id) {
  const Function& callee = function(id);
  std::vector<TypeRef> params;
  for (VarId param : callee.params) params.push_back(callee.var(param).type);
  // Outside the function its symbols mean nothing: what is not a number is any extent.
  return types.rewrite(types.function(std::move(params), callee.result), [&](TypeRef leaf) -> TypeRef {
    if (!leaf->isTensor() || leaf->hasStaticDims()) return leaf;
    std::vector<DimExpr> dims;
    for (const DimExpr& dim : leaf->dims()) dims.push_back(dim.isConstant() ? dim : DimExpr::symbol(kAnyDim));
    return types.tensor(leaf->dtype(), std::move(dims));
  });
}

TypeRef Module::typeOf(const Function& in, Atom atom) {
  switch (atom.kind()) {
    case Atom::Kind::Var: return in.var(atom.var()).type;
    case Atom::Kind::Constant: return typeOf(atom.constant());
    case Atom::Kind::Global: return typeOf(atom.global());
  }
  return nullptr;
}

std::vector<TypeRef> Module::fieldTypes(TypeRef adt, uint32_t tag) {
  const TypeDef& definition = typeDef(adt->definition());
  std::vector<TypeRef> fields;
  for (TypeRef field : definition.constructors[tag].fields)
    fields.push_back(types.substitute(field, definition.generics, adt->elements()));
  return fields;
}

}  // namespace baton::ir

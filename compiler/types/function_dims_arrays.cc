// Facts about arrays. Extents of elements are extents inside data: what all elements that were put in
// agree on is known, and reading an element mints symbols for the rest.
#include "compiler/types/dims.h"
#include "compiler/types/function_dims.h"

namespace baton::types {

using ir::ArrayOperation;
using ir::TypeRef;

namespace {

TypeRef tensorOf(ir::TypeTable& types, TypeRef like, std::span<const DimExpr> dims) {
  return types.tensor(like->dtype(), std::vector<DimExpr>(dims.begin(), dims.end()));
}

/// The same rows under an outer extent that may be anything.
TypeRef withAnyOuter(ir::TypeTable& types, TypeRef like, std::span<const DimExpr> row) {
  std::vector<DimExpr> dims{anyDim()};
  dims.insert(dims.end(), row.begin(), row.end());
  return tensorOf(types, like, dims);
}

/// The extents of a row of what Stack or Concat makes.
std::span<const DimExpr> rowDims(ArrayOperation operation, TypeRef array) {
  const std::span<const DimExpr> dims = array->element()->dims();
  return operation == ArrayOperation::Concat ? dims.subspan(1) : dims;
}

}  // namespace

Fact FunctionDims::arrayOperation(const ir::Binding& binding, const ir::ArrayOp& rhs) {
  ir::TypeTable& types = module_.module().types;
  std::vector<TypeRef> args;
  for (const ir::Atom& arg : rhs.args) {
    const Fact fact = factOf(arg);
    if (!fact.isReached()) return {};
    args.push_back(fact.type);
  }
  const auto with = [&](TypeRef element) {
    return Fact{module_.cells().filledIn(types.array(joinData(types, args[0]->element(), element))),
                std::nullopt};
  };
  switch (rhs.operation) {
    case ArrayOperation::New: return emptyArray(binding);
    case ArrayOperation::Push: return with(args[1]);
    case ArrayOperation::Set: return with(args[2]);
    case ArrayOperation::Get: return readable(binding.var, args[0]->element());
    case ArrayOperation::Length: return {shapes_[binding.var.value()], std::nullopt};
    case ArrayOperation::Stack:
    case ArrayOperation::Concat:
      return readable(binding.var, withAnyOuter(types, args[0]->element(), rowDims(rhs.operation, args[0])));
    case ArrayOperation::Unstack:
      return {types.array(tensorOf(types, args[0], args[0]->dims().subspan(1))), std::nullopt};
    case ArrayOperation::Split:
      return {types.array(withAnyOuter(types, args[0], args[0]->dims().subspan(1))), std::nullopt};
  }
  return {};
}

/// No elements have any extents; where a declaration says which, it is believed.
Fact FunctionDims::emptyArray(const ir::Binding& binding) {
  const TypeRef shape = shapes_[binding.var.value()];
  std::vector<DimExpr> dims = declaredDims(function_.var(binding.var).declaredType, shape);
  for (DimExpr& dim : dims) {
    dim = resolveNamed(dim);
    if (isAnyDim(dim) || !isInScope(dim, binding.var)) dim = noDim();
  }
  return {module_.cells().filledIn(withDims(module_.module().types, shape, dims)), std::nullopt};
}

void FunctionDims::noteRowExtents(ir::ArrayOp& rhs) {
  if (rhs.operation != ArrayOperation::Stack && rhs.operation != ArrayOperation::Concat) return;
  rhs.rowExtents.clear();
  const Fact array = factOf(rhs.args[0]);
  if (!array.isReached()) return;
  // Where nothing is found, a declaration tells: an array without elements cannot contradict it.
  const ir::Atom& arg = rhs.args[0];
  const TypeRef declared = arg.isVar() ? function_.var(arg.var()).declaredType : nullptr;
  const std::vector<DimExpr> told = declaredDims(declared, module_.module().types.erased(array.type));
  const std::span<const DimExpr> found = rowDims(rhs.operation, array.type);
  for (size_t i = 0; i < found.size(); ++i) {
    const DimExpr written = resolveNamed(told[told.size() - found.size() + i]);
    rhs.rowExtents.push_back(found[i].asConstant().value_or(written.asConstant().value_or(-1)));
  }
}

}  // namespace baton::types

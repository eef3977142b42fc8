#include "compiler/passes/fold.h"

#include <algorithm>

#include "compiler/ir/attr_dims.h"
#include "compiler/ops/reference.h"
#include "compiler/passes/effects.h"

namespace baton::passes {
namespace {

/// Elements that are numbers, as a constant.
std::optional<ir::Constant> constantOfElements(const ir::VarInfo& info) {
  if (!info.valueDims || !info.type->isTensor() || !info.type->hasStaticDims()) return std::nullopt;
  ir::Constant constant{.dtype = info.type->dtype()};
  for (const DimExpr& dim : info.type->dims()) constant.shape.push_back(*dim.asConstant());
  const size_t size = static_cast<size_t>(sizeBytes(constant.dtype));
  constant.bytes.resize(info.valueDims->size() * size);
  for (size_t i = 0; i < info.valueDims->size(); ++i) {
    const std::optional<int64_t> element = (*info.valueDims)[i].asConstant();
    if (!element) return std::nullopt;
    storeScalar(constant.bytes.data() + i * size, constant.dtype,
                convertScalar(static_cast<uint64_t>(*element), DType::I64, constant.dtype));
  }
  return constant;
}

bool hasSymbols(const ir::Attrs& attrs) {
  bool found = false;
  ir::forEachDim(attrs, [&](const DimExpr& dim) { found = found || !dim.isConstant(); });
  return found;
}

}  // namespace

ConstantPool::ConstantPool(ir::Module& module) : module_(module) {
  for (uint32_t i = 0; i < module.constants.size(); ++i) {
    const ir::Constant& constant = module.constants[i];
    if (constant.shape.empty() && constant.name.empty() && !constant.bytes.empty())
      scalars_.try_emplace({constant.dtype, loadScalar(constant.bytes.data(), constant.dtype)},
                           ir::ConstantId(i));
  }
}

ir::ConstantId ConstantPool::add(ir::Constant constant) {
  if (!constant.shape.empty()) return module_.addConstant(std::move(constant));
  const std::pair key{constant.dtype, loadScalar(constant.bytes.data(), constant.dtype)};
  auto at = scalars_.find(key);
  if (at == scalars_.end()) at = scalars_.emplace(key, module_.addConstant(std::move(constant))).first;
  return at->second;
}

std::optional<std::vector<ir::Atom>> foldOperator(ir::Module& module, const ir::Function& function,
                                                  const ir::Binding& binding, ConstantPool& pool,
                                                  FoldLimits& limits) {
  const auto& call = std::get<ir::CallOp>(binding.rhs);
  const ir::VarInfo& info = function.var(binding.var);
  if (!canFail(function, binding))
    if (std::optional<ir::Constant> known = constantOfElements(info))
      return std::vector<ir::Atom>{pool.add(std::move(*known))};

  size_t inputBytes = 0;
  std::vector<ops::TensorView> inputs;
  for (const ir::Atom& arg : call.args) {
    if (!arg.isConstant()) return std::nullopt;
    const ir::Constant& constant = module.constant(arg.constant());
    if (constant.isExternal()) return std::nullopt;
    inputBytes += constant.bytes.size();
    inputs.push_back({constant.dtype, constant.shape, constant.bytes.data()});
  }
  if (!binding.obligations.empty() || hasSymbols(call.attrs)) return std::nullopt;
  // The size of the results, before they are made.
  const size_t limit = std::max(inputBytes, limits.maxBytes);
  std::vector<ir::TypeRef> types;
  if (info.type->isTuple())
    types.assign(info.type->elements().begin(), info.type->elements().end());
  else
    types.push_back(info.type);
  size_t bytes = 0;
  for (ir::TypeRef type : types) {
    size_t size = static_cast<size_t>(sizeBytes(type->dtype()));
    for (const DimExpr& dim : type->dims()) {
      // Data-dependent extents are bounded by the operands' sizes in practice; checked below.
      const int64_t extent = dim.asConstant().value_or(1);
      if (extent < 0 || __builtin_mul_overflow(size, static_cast<size_t>(extent), &size)) return std::nullopt;
    }
    bytes += size;
  }
  if (bytes > limit) return std::nullopt;
  Result<std::vector<ops::ReferenceResult>> results =
      ops::evaluateReference(*call.op, call.attrs, inputs, limits.work);
  if (!results.has_value()) return std::nullopt;
  std::vector<ir::Atom> atoms;
  size_t total = 0;
  for (const ops::ReferenceResult& result : results.assume_value()) total += result.bytes.size();
  if (total > limit || results.assume_value().size() != types.size()) return std::nullopt;
  for (ops::ReferenceResult& result : results.assume_value())
    atoms.push_back(pool.add(
        {.dtype = result.dtype, .shape = std::move(result.shape), .bytes = std::move(result.bytes)}));
  return atoms;
}

}  // namespace baton::passes

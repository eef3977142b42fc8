#include "compiler/lir/lower/kernel_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/lir/lower/group_key.h"
#include "compiler/lir/lower/prune_inputs.h"
#include "compiler/ops/call_contexts.h"
#include "compiler/ops/lowering/kernel_lowering.h"
#include "compiler/ops/lowering/library_call.h"
#include "kernels/loop/verifier.h"

namespace baton::lir {

std::string KernelTable::kernelName(const std::string& base) {
  std::string clean = base;
  for (char& c : clean)
    if (c == '.' || c == '/') c = '_';
  std::string name = clean;
  uint32_t& next = nextNumber_[clean];
  while (!names_.insert(name).second) name = fmt::format("{}_{}", clean, ++next);
  return name;
}

Result<KernelTable::Group> KernelTable::lower(const ir::Function& function) {
  GroupKey key = groupKey(source_, function);
  const auto [found, isNew] = byKey_.try_emplace(std::move(key.text));
  Group group{&found->second, std::move(key.symbols)};
  if (!isNew) return group;
  BATON_TRY_ASSIGN(ops::LoweredKernel lowered, ops::lowerGroup(source_, function));
  lowered.kernel.descriptor.name = kernelName(function.name);
  found->second.isUnreadTensor = pruneInputs(lowered.kernel);
  BATON_TRY(loop::verify(lowered.kernel));
  BATON_TRY_ASSIGN(loop::Kernel scheduled, schedule::apply(lowered.kernel, lowered.schedule));
  const auto index = static_cast<uint32_t>(module_.kernels.size());
  found->second.kernel = KernelIndex(index);
  if (lowered.narrowSchedule) {
    BATON_TRY_ASSIGN(loop::Kernel narrow, schedule::apply(lowered.kernel, *lowered.narrowSchedule));
    // Callers know one descriptor; a body that has another is not used.
    if (narrow.descriptor == scheduled.descriptor)
      module_.narrowKernels.emplace(index, std::move(narrow));
    else
      lowered.narrowSchedule.reset();
  }
  for (const DimExpr& dim : lowered.scalarDims)
    found->second.scalarDims.push_back(numbered(dim, group.symbols));
  module_.tables.kernels.push_back(scheduled.descriptor);
  module_.kernels.push_back(std::move(scheduled));
  module_.unscheduled.emplace(index, UnscheduledKernel{std::move(lowered.kernel), std::move(lowered.schedule),
                                                       std::move(lowered.narrowSchedule)});
  return group;
}

namespace {

/// Learns symbols of a group from extents of the caller's: `formal` against `actual`.
class SymbolMatcher {
 public:
  void match(ir::TypeRef formal, ir::TypeRef actual) {
    if (formal->isTuple()) {
      for (size_t i = 0; i < formal->elements().size(); ++i)
        match(formal->elements()[i], actual->elements()[i]);
      return;
    }
    for (size_t i = 0; i < formal->dims().size(); ++i) match(formal->dims()[i], actual->dims()[i]);
  }
  void match(const DimExpr& formal, const DimExpr& actual) {
    if (const std::optional<DimSymbol> symbol = formal.asSymbol()) values_.try_emplace(*symbol, actual);
  }
  std::vector<std::optional<DimExpr>> values(const std::vector<DimSymbol>& symbols) const {
    std::vector<std::optional<DimExpr>> result;
    for (DimSymbol symbol : symbols) {
      const auto found = values_.find(symbol);
      result.push_back(found == values_.end() ? std::nullopt : std::optional(found->second));
    }
    return result;
  }

 private:
  std::unordered_map<DimSymbol, DimExpr> values_;
};

}  // namespace

Result<KernelCall> KernelTable::groupCall(const ir::Function& caller, const ir::CallGlobal& call,
                                          ir::TypeRef resultType) {
  const ir::Function& callee = source_.function(call.callee);
  auto found = groups_.find(call.callee.value());
  if (found == groups_.end()) {
    BATON_TRY_ASSIGN(Group group, lower(callee));
    found = groups_.emplace(call.callee.value(), std::move(group)).first;
  }
  SymbolMatcher matcher;
  for (size_t i = 0; i < call.args.size(); ++i) {
    const ir::VarInfo& param = callee.var(callee.params[i]);
    matcher.match(param.type, source_.typeOf(caller, call.args[i]));
    const std::optional<std::vector<DimExpr>> values = ops::elementsOf(source_, caller, call.args[i]);
    if (!param.valueDims || !values) continue;
    for (size_t v = 0; v < values->size(); ++v) matcher.match((*param.valueDims)[v], (*values)[v]);
  }
  matcher.match(callee.result, resultType);
  return KernelCall{found->second.use, call.args, matcher.values(found->second.symbols)};
}

DimExpr KernelTable::generalise(const DimExpr& expr, const std::unordered_set<uint32_t>& bound) {
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  if (std::all_of(symbols.begin(), symbols.end(), [&](DimSymbol s) { return bound.contains(s.value()); }))
    return expr;
  for (const auto& [known, symbol] : generalised_)
    if (known == expr) return DimExpr::symbol(symbol);
  if (generalised_.size() == pool_.size())
    pool_.push_back(source_.dimSymbols.add(fmt::format("d{}", pool_.size())));
  generalised_.emplace_back(expr, pool_[generalised_.size()]);
  return DimExpr::symbol(generalised_.back().second);
}

ir::TypeRef KernelTable::generalise(ir::TypeRef type, const std::unordered_set<uint32_t>& bound) {
  if (type->isTuple()) {
    std::vector<ir::TypeRef> elements;
    for (ir::TypeRef element : type->elements()) elements.push_back(generalise(element, bound));
    return source_.types.tuple(std::move(elements));
  }
  std::vector<DimExpr> dims;
  for (const DimExpr& dim : type->dims()) dims.push_back(generalise(dim, bound));
  return source_.types.tensor(type->dtype(), std::move(dims));
}

Result<KernelCall> KernelTable::libraryCall(const ir::Function& caller, const ir::Binding& binding) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  const auto structureOf = [](ir::TypeRef type) -> ops::TensorStructure {
    return {type->dtype(), type->rank()};
  };
  std::vector<ops::TensorStructure> operands;
  for (const ir::Atom& arg : call.args) operands.push_back(structureOf(source_.typeOf(caller, arg)));
  std::vector<ops::TensorStructure> results;
  const ir::TypeRef type = caller.var(binding.var).type;
  if (type->isTuple())
    for (ir::TypeRef element : type->elements()) results.push_back(structureOf(element));
  else
    results.push_back(structureOf(type));
  const KernelDescriptor* descriptor = ops::libraryKernel(*call.op, operands, results);
  if (descriptor == nullptr)
    return Error(ErrorCode::Unsupported,
                 fmt::format("{}: the library has no kernel for these types", call.op->name));
  const auto [found, isNew] = byKey_.try_emplace(descriptor->name);
  if (isNew) {
    found->second.kernel = KernelIndex(static_cast<uint32_t>(module_.kernels.size()));
    found->second.isUnreadTensor.assign(descriptor->inputs.size(), false);
    names_.insert(descriptor->name);
    module_.tables.kernels.push_back(*descriptor);
    module_.kernels.push_back({.descriptor = *descriptor});
  }
  return KernelCall{&found->second, call.args, {}};
}

// Operands become parameters, each once. Symbols that some operand has as an extent of its own
// stay; every other extent is a symbol of its own to the kernel, which reads it from the operand
// or the result that has it.
Result<KernelCall> KernelTable::operatorCall(const ir::Function& caller, const ir::Binding& binding) {
  const ir::CallOp& call = std::get<ir::CallOp>(binding.rhs);
  if (!call.op->library.empty()) return libraryCall(caller, binding);
  generalised_.clear();
  std::unordered_set<uint32_t> bound;
  for (const ir::Atom& arg : call.args)
    for (const DimExpr& dim : source_.typeOf(caller, arg)->dims())
      if (const std::optional<DimSymbol> symbol = dim.asSymbol()) bound.insert(symbol->value());

  ir::Function group;
  group.name = std::string(call.op->name);
  group.location = binding.location;
  group.attrs.set(ir::kFusionGroupAttr, int64_t{1});
  KernelCall result;
  ir::CallOp inner{call.op, {}, {}};
  for (const auto& [name, value] : call.attrs.entries()) {
    if (const auto* dims = std::get_if<std::vector<DimExpr>>(&value)) {
      std::vector<DimExpr> general;
      for (const DimExpr& dim : *dims) general.push_back(generalise(dim, bound));
      inner.attrs.set(name, std::move(general));
    } else {
      inner.attrs.set(name, value);
    }
  }
  for (size_t i = 0; i < call.args.size(); ++i) {
    const ir::Atom& arg = call.args[i];
    const bool decidesShape = i < 32 && (call.op->valueInputs >> i & 1) != 0;
    const auto known = std::find(result.args.begin(), result.args.end(), arg);
    if (known != result.args.end()) {
      inner.args.push_back(group.params[static_cast<size_t>(known - result.args.begin())]);
      continue;
    }
    ir::VarInfo info;
    info.name = fmt::format("a{}", result.args.size());
    info.type = generalise(source_.typeOf(caller, arg), bound);
    info.location = binding.location;
    if (decidesShape) {
      info.valueDims = ops::elementsOf(source_, caller, arg);
      if (info.valueDims)
        for (DimExpr& dim : *info.valueDims) dim = generalise(dim, bound);
    }
    group.params.push_back(group.addVar(std::move(info)));
    result.args.push_back(arg);
    inner.args.push_back(group.params.back());
  }
  ir::VarInfo info;
  info.name = "y";
  info.type = group.result = generalise(caller.var(binding.var).type, bound);
  info.location = binding.location;
  const ir::VarId var = group.addVar(std::move(info));
  group.body = group.addBlock();
  group.block(group.body).bindings.push_back({var, std::move(inner), binding.location, {}});
  group.block(group.body).result = var;

  BATON_TRY_ASSIGN(const Group lowered, lower(group));
  result.use = lowered.use;
  for (DimSymbol symbol : lowered.symbols) {
    std::optional<DimExpr> value = DimExpr::symbol(symbol);
    for (const auto& [expr, general] : generalised_)
      if (general == symbol) value = expr;
    result.symbols.push_back(std::move(value));
  }
  return result;
}

}  // namespace baton::lir

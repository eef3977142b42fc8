#include "compiler/lir/lower/module_lowering.h"

#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "compiler/lir/lower/function_lowering.h"
#include "compiler/lir/lower/lower.h"

namespace baton::lir {

namespace {

/// In tuples and arrays, too. Cells in data and captured ones are found where the value leaves.
bool holdsCell(ir::TypeRef type) {
  std::vector<ir::TypeRef> work{type};
  while (!work.empty()) {
    const ir::TypeRef next = work.back();
    work.pop_back();
    if (next->isRef()) return true;
    if (next->isTuple()) work.insert(work.end(), next->elements().begin(), next->elements().end());
    if (next->isArray()) work.push_back(next->element());
  }
  return false;
}

}  // namespace

FunctionIndex ModuleLowering::declare(const std::string& name, SignatureIndex signature) {
  Function& function = module.functions.emplace_back();
  function.name = tables.functionName(name);
  function.signature = signature;
  return FunctionIndex(static_cast<uint32_t>(module.functions.size() - 1));
}

SignatureIndex ModuleLowering::signatureOf(const ir::Function& function, const std::vector<ir::VarId>& params,
                                           ir::TypeRef result) {
  std::vector<ir::TypeRef> paramTypes;
  for (ir::VarId param : params) paramTypes.push_back(function.var(param).type);
  return types.signature(paramTypes, result);
}

FunctionIndex ModuleLowering::functionOf(ir::GlobalId id) {
  const auto found = functions_.find(id.value());
  if (found != functions_.end()) return found->second;
  const ir::Function& function = source.function(id);
  const FunctionIndex index = declare(function.name, signatureOf(function, function.params, function.result));
  functions_.emplace(id.value(), index);
  pending_.push_back({index, id, false, std::nullopt});
  return index;
}

FunctionIndex ModuleLowering::wrapperOf(ir::GlobalId id) {
  const auto found = wrappers_.find(id.value());
  if (found != wrappers_.end()) return found->second;
  const ir::Function& function = source.function(id);
  const FunctionIndex index =
      declare(function.name + "$closure", signatureOf(function, function.params, function.result));
  module.function(index).isClosure = true;
  wrappers_.emplace(id.value(), index);
  pending_.push_back({index, id, true, std::nullopt});
  return index;
}

FunctionIndex ModuleLowering::closureFunction(ClosureSource closure, std::vector<Kind> captures) {
  const ir::Function& parent = source.function(closure.parent);
  const ir::VarInfo& self = parent.var(closure.self);
  const FunctionIndex index = declare(fmt::format("{}${}", parent.name, self.name.empty() ? "fn" : self.name),
                                      signatureOf(parent, closure.lambda->params, self.type->result()));
  module.function(index).isClosure = true;
  module.function(index).captures = std::move(captures);
  const ir::GlobalId owner = closure.parent;
  pending_.push_back({index, owner, false, std::move(closure)});
  return index;
}

Result<void> ModuleLowering::addEntryPoint(ir::GlobalId id) {
  const ir::Function& function = source.function(id);
  bytecode::EntryPoint entry;
  entry.name = function.name;
  entry.documentation = function.doc;
  std::unordered_map<DimSymbol, DimSymbol> numbers;
  // Extents that differ, as those that the body decides, may have one name: it gets a number then.
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, size_t> copies;
  const auto nameOf = [&](DimSymbol symbol) -> std::string {
    if (symbol.value() >= source.dimSymbols.size() || source.dimSymbols.name(symbol).empty()) return "?";
    const std::string& name = source.dimSymbols.name(symbol);
    std::string candidate = name;
    for (size_t& copy = copies[name]; !taken.insert(candidate).second;)
      candidate = fmt::format("{}_{}", name, ++copy);
    return candidate;
  };
  const auto number = [&](DimSymbol symbol) {
    const DimSymbol next(static_cast<uint32_t>(entry.symbols.size()));
    if (symbol == ir::kAnyDim) {
      entry.symbols.push_back("?");
      return next;
    }
    const auto [found, isNew] = numbers.try_emplace(symbol, next);
    if (isNew) entry.symbols.push_back(nameOf(symbol));
    return found->second;
  };
  const auto mapped = [&](const DimExpr& expr) {
    return expr.substitute([&](DimSymbol symbol) { return std::optional(DimExpr::symbol(number(symbol))); });
  };
  TypeLowering::EntryTypes entryTypes{entry, number};
  for (size_t i = 0; i < function.params.size(); ++i) {
    const ir::VarInfo& param = function.var(function.params[i]);
    if (holdsCell(param.type))
      return Error(ErrorCode::CompileError,
                   fmt::format("@{}: a ref cannot be a parameter of an exported function", function.name));
    entry.parameters.push_back({i < function.entryNames.size() ? function.entryNames[i] : param.name,
                                types.entryType(param.type, entryTypes)});
  }
  if (holdsCell(function.result))
    return Error(ErrorCode::CompileError,
                 fmt::format("@{}: a ref cannot be the result of an exported function", function.name));
  for (const DimConstraint& constraint : function.where)
    entry.constraints.push_back({mapped(constraint.lhs), constraint.relation, mapped(constraint.rhs)});
  entry.result = types.entryType(function.result, entryTypes);
  entry.resultIsSplit = function.result->isTuple();
  entry.peakMemory.reason = "memory is not planned";
  entry.function = functionOf(id);
  module.tables.entryPoints.push_back(std::move(entry));
  return success();
}

Result<void> ModuleLowering::run(SourceLocation* where) {
  for (const ir::SourceFile& file : source.sources) module.files.push_back(file.name);
  module.inlineSites = source.inlineSites;
  for (uint32_t i = 0; i < source.functions.size(); ++i) {
    if (!source.functions[i].isExported) continue;
    functionOf(ir::GlobalId(i));
  }
  while (!pending_.empty()) {
    const PendingFunction pending = std::move(pending_.front());
    pending_.pop_front();
    FunctionLowering lowering(*this, pending);
    Result<void> result = lowering.run();
    if (result.has_value()) continue;
    *where = lowering.location();
    return result;
  }
  types.finish();
  for (uint32_t i = 0; i < source.functions.size(); ++i) {
    if (!source.functions[i].isExported) continue;
    *where = source.functions[i].location;
    BATON_TRY(addEntryPoint(ir::GlobalId(i)));
  }
  return success();
}

Result<Module> lower(ir::Module& source, SourceLocation* where) {
  Module module;
  BATON_TRY(ModuleLowering(source, module).run(where));
  return module;
}

}  // namespace baton::lir

// Symbols, scopes, and checks that typing cannot decide.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ir/op.h"
#include "compiler/ir/printer.h"
#include "compiler/types/dims.h"
#include "compiler/types/function_dims.h"

namespace baton::types {

uint64_t FunctionDims::symbolKey(ir::VarId owner, SymbolKind kind, uint32_t ordinal) {
  return static_cast<uint64_t>(owner.value()) << 32 | static_cast<uint64_t>(kind) << 28 | ordinal;
}

DimExpr FunctionDims::symbol(ir::VarId owner, SymbolKind kind, uint32_t ordinal, std::string_view hint) {
  uint64_t key = symbolKey(owner, kind, ordinal);
  auto [entry, isNew] = symbols_.try_emplace(key);
  if (!isNew) return DimExpr::symbol(entry->second);
  std::string name(hint);
  if (name.empty()) {
    std::string variable = owner == ir::kNoVar ? "" : function_.var(owner).name;
    bool isName = !variable.empty() && variable.find('/') == std::string::npos &&
                  (variable[0] < '0' || variable[0] > '9');
    name = isName ? fmt::format("{}_{}", variable, ordinal) : "d";
  }
  entry->second = module_.module().dimSymbols.add(std::move(name));
  owners_.emplace(entry->second, kind == SymbolKind::Result ? ir::kNoVar : owner);
  if (kind != SymbolKind::Element) knowledge_.addExtent(entry->second);
  return DimExpr::symbol(entry->second);
}

void FunctionDims::assumeChecked(const DimConstraint& constraint) {
  // The body of the function is one block: what is checked in it holds to its end.
  ir::BlockId block = openBlocks_.back();
  bool isSaved = !saved_.empty() && saved_.back().block == block;
  if (openBlocks_.size() > 1 && !isSaved) saved_.push_back({block, knowledge_.mark()});
  // A contradiction means that control does not get past the check: then all is well.
  static_cast<void>(knowledge_.assume(constraint).has_value());
}

DimExpr FunctionDims::extentSymbol(ir::VarId owner, size_t position) {
  return symbol(owner, SymbolKind::Extent, static_cast<uint32_t>(position), "");
}

DimExpr FunctionDims::elementSymbol(ir::VarId owner, size_t element, ir::TypeRef type) {
  bool isNew = !symbols_.contains(symbolKey(owner, SymbolKind::Element, static_cast<uint32_t>(element)));
  DimExpr dim = symbol(owner, SymbolKind::Element, static_cast<uint32_t>(element),
                       type->rank() == 0 ? function_.var(owner).name : "");
  int bits = 8 * sizeBytes(type->dtype());
  if (!isNew || bits == 64) return dim;
  bool isSigned = isSignedInt(type->dtype());
  int64_t low = isSigned ? -(int64_t{1} << (bits - 1)) : 0;
  int64_t high = type->dtype() == DType::Bool ? 1 : (int64_t{1} << (isSigned ? bits - 1 : bits)) - 1;
  knowledge_.declare(*dim.asSymbol(), {low, high});
  return dim;
}

bool FunctionDims::isInScope(const DimExpr& dim, ir::VarId at) const {
  if (dim.isConstant()) return true;
  std::vector<DimSymbol> symbols;
  dim.collectSymbols(symbols);
  for (DimSymbol symbol : symbols) {
    auto owner = owners_.find(symbol);
    if (owner == owners_.end() || owner->second == ir::kNoVar || !scope_.isInScope(owner->second, at))
      return false;
  }
  return true;
}

bool FunctionDims::isOwnedBy(DimSymbol symbol, const Callable& callable) const {
  auto owner = owners_.find(symbol);
  auto param = owner == owners_.end() ? paramOf_.end() : paramOf_.find(owner->second);
  return param != paramOf_.end() && param->second == &callable;
}

Result<void> FunctionDims::require(const DimExpr& lhs, Relation relation, const DimExpr& rhs,
                                   std::string message, std::vector<DimExpr> shown) {
  Truth truth = knowledge_.decide(lhs, relation, rhs);
  if (truth == Truth::True) return success();
  std::vector<DimExpr> values = shown.empty() ? std::vector<DimExpr>{lhs, rhs} : shown;
  if (truth == Truth::Unknown) {
    if (obligations_ != nullptr)
      obligations_->push_back({lhs, relation, rhs, std::move(message), std::move(values)});
    assumeChecked({lhs, relation, rhs});
    return success();
  }
  std::vector<std::string> texts;
  for (const DimExpr& value : values) texts.push_back(ir::print(module_.module(), value));
  return Error(ErrorCode::CompileError, ops::formatDimMessage(message, texts));
}

SourceLocation FunctionDims::operandLocation(const ir::Binding& binding,
                                             std::optional<size_t> operand) const {
  if (!operand) return binding.location;
  auto places = function_.operandLocations.find(binding.var);
  if (places == function_.operandLocations.end() || *operand >= places->second.size())
    return binding.location;
  return places->second[*operand];
}

void FunctionDims::report(SourceLocation location, bool isCertain, const std::string& message,
                          const std::string& detail) {
  if (isCertain)
    module_.diagnostics().error(location, message, detail);
  else
    module_.diagnostics().warning(location, message + " (when it is reached)", detail);
}

// What fails whenever it runs is an error of the program only if it runs; otherwise the
// run says so when it gets there.
void FunctionDims::reportFailure(const ir::Binding& binding, const std::string& message,
                                 std::optional<size_t> operand) {
  if (!isFinal_) return;
  std::string detail;
  std::vector<ir::Atom> operands;
  if (const ir::CallOp* call = std::get_if<ir::CallOp>(&binding.rhs)) operands = call->args;
  if (const ir::CallGlobal* call = std::get_if<ir::CallGlobal>(&binding.rhs)) operands = call->args;
  if (operand && *operand < operands.size()) {
    Fact fact = factOf(operands[*operand]);
    if (fact.isReached()) detail = ir::print(module_.module(), fact.type);
  }
  bool isCertain = isCertain_ && scope_.isUnconditional(scope_.homeOf(binding.var));
  report(operandLocation(binding, operand), isCertain, message, detail);
  if (obligations_ != nullptr)
    obligations_->push_back({DimExpr(), Relation::Eq, DimExpr::constant(1), message, {DimExpr()}});
}

}  // namespace baton::types

#include "compiler/ops/call_contexts.h"

#include <fmt/format.h>

#include "base/limits.h"

namespace baton::ops {

namespace {

Error mismatch(std::string message) { return Error(ErrorCode::CompileError, std::move(message)); }

std::string printDim(const DimExpr& dim) {
  return dim.print([](DimSymbol symbol) { return fmt::format("d{}", symbol.value()); });
}

}  // namespace

std::optional<int64_t> KnownStructure::length(size_t input) const {
  const KnownInput& known = inputs_[input];
  return known.dims.empty() ? std::nullopt : known.dims[0].asConstant();
}

std::optional<std::vector<int64_t>> KnownStructure::constantInts(size_t input) const {
  if (!inputs_[input].values) return std::nullopt;
  std::vector<int64_t> out;
  for (const DimExpr& value : *inputs_[input].values) {
    const std::optional<int64_t> number = value.asConstant();
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

Result<void> KnownStructure::requireDType(size_t input, DType dtype) {
  if (inputs_[input].dtype == dtype) return success();
  return mismatch(fmt::format("input {} has element type {}; expected {}", input,
                              dtypeName(inputs_[input].dtype), dtypeName(dtype)));
}

Result<void> KnownStructure::requireRank(size_t input, int rank) {
  if (static_cast<int>(inputs_[input].dims.size()) == rank) return success();
  return mismatch(fmt::format("input {} has rank {}; expected {}", input, inputs_[input].dims.size(), rank));
}

Result<void> KnownStructure::requireSameDType(size_t a, size_t b) {
  return requireDType(b, inputs_[a].dtype);
}

Result<void> KnownStructure::requireSameRank(size_t a, size_t b) {
  return requireRank(b, static_cast<int>(inputs_[a].dims.size()));
}

KnownDims::KnownDims(std::span<const KnownInput> inputs, const DimKnowledge& knowledge, uint32_t firstFresh,
                     CertainFailure failure)
    : inputs_(inputs), knowledge_(knowledge), firstFresh_(firstFresh), failure_(failure) {}

const std::vector<DimExpr>* KnownDims::values(size_t input) const {
  return inputs_[input].values ? &*inputs_[input].values : nullptr;
}

const std::vector<DimExpr>* KnownDims::valuesOrSymbols(size_t input) {
  if (inputs_[input].values) return &*inputs_[input].values;
  const auto at = made_.find(input);
  if (at != made_.end()) return &at->second;
  int64_t count = 1;
  if (!inputs_[input].dims.empty()) {
    const std::optional<int64_t> length = inputs_[input].dims[0].asConstant();
    if (!length) return nullptr;
    count = *length;
  }
  std::vector<DimExpr> symbols;
  for (int64_t i = 0; i < count; ++i) symbols.push_back(fresh("element"));
  return &made_.emplace(input, std::move(symbols)).first->second;
}

Truth KnownDims::decide(const DimExpr& lhs, Relation relation, const DimExpr& rhs) const {
  const std::optional<int64_t> a = lhs.asConstant();
  const std::optional<int64_t> b = rhs.asConstant();
  if (a && b) return holds(relation, *a, *b) ? Truth::True : Truth::False;
  return knowledge_.decide(lhs, relation, rhs);
}

Result<void> KnownDims::require(const DimExpr& lhs, Relation relation, const DimExpr& rhs,
                                std::string message, std::vector<DimExpr> shown) {
  const Truth truth = decide(lhs, relation, rhs);
  if (truth == Truth::True) return success();
  if (shown.empty()) shown = {lhs, rhs};
  if (truth == Truth::False && failure_ == CertainFailure::Refused) {
    std::vector<std::string> values;
    for (const DimExpr& dim : shown) values.push_back(printDim(dim));
    return mismatch(formatDimMessage(message, values));
  }
  open_.push_back({{lhs, relation, rhs}, std::move(message), std::move(shown)});
  return success();
}

DimExpr KnownDims::fresh(std::string_view hint) {
  const auto symbol = DimSymbol(firstFresh_ + static_cast<uint32_t>(freshNames_.size()));
  freshNames_.emplace_back(hint.empty() ? "d" : hint);
  return DimExpr::symbol(symbol);
}

std::optional<std::vector<DimExpr>> elementsOf(const ir::Constant& constant) {
  if (isFloat(constant.dtype) || constant.shape.size() > 1 || constant.isExternal()) return std::nullopt;
  const size_t size = static_cast<size_t>(sizeBytes(constant.dtype));
  const size_t count = constant.bytes.size() / size;
  if (count > static_cast<size_t>(kMaxValueDims)) return std::nullopt;
  std::vector<DimExpr> elements;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bits = loadScalar(constant.bytes.data() + i * size, constant.dtype);
    if (constant.dtype == DType::U64 && bits > INT64_MAX) return std::nullopt;
    elements.push_back(DimExpr::constant(static_cast<int64_t>(bits)));
  }
  return elements;
}

std::optional<std::vector<DimExpr>> elementsOf(const ir::Module& module, const ir::Function& function,
                                               ir::Atom atom) {
  if (atom.isVar()) return function.var(atom.var()).valueDims;
  return atom.isConstant() ? elementsOf(module.constant(atom.constant())) : std::nullopt;
}

KnownInput knownConstant(const ir::Constant& constant) {
  KnownInput known{constant.dtype, {}, elementsOf(constant), std::nullopt};
  for (const int64_t extent : constant.shape) known.dims.push_back(DimExpr::constant(extent));
  if (isFloat(constant.dtype) && constant.shape.empty() && !constant.isExternal())
    known.constantFloat = scalarFromBits<double>(
        convertScalar(loadScalar(constant.bytes.data(), constant.dtype), constant.dtype, DType::F64));
  return known;
}

KnownInput knownOperand(ir::Module& module, const ir::Function& function, ir::Atom atom) {
  if (atom.isConstant()) return knownConstant(module.constant(atom.constant()));
  const ir::TypeRef type = module.typeOf(function, atom);
  return {type->dtype(),
          {type->dims().begin(), type->dims().end()},
          elementsOf(module, function, atom),
          std::nullopt};
}

std::vector<TensorDims> dimsFromOperands(ir::Module& module, const ir::Function& function,
                                         const ir::CallOp& call) {
  std::vector<KnownInput> inputs;
  DimKnowledge knowledge;
  for (const ir::Atom& arg : call.args) {
    inputs.push_back(knownOperand(module, function, arg));
    for (const DimExpr& extent : inputs.back().dims)
      static_cast<void>(knowledge.assume({extent, Relation::Ge, DimExpr()}).has_value());
  }
  // What it would require has been checked.
  KnownDims relations(inputs, knowledge, static_cast<uint32_t>(module.dimSymbols.size()),
                      CertainFailure::StaysOpen);
  Result<std::vector<TensorDims>> found = call.op->dims({call.op, &call.attrs, call.args.size()}, relations);
  return found.has_value() ? std::move(found).assume_value() : std::vector<TensorDims>();
}

Result<CallResults> inferCall(const OpCall& call, std::span<const KnownInput> inputs, KnownDims& relations) {
  KnownStructure structure(inputs);
  BATON_TRY_ASSIGN(const std::optional<StructureResult> types, call.op->structure(call, structure));
  BATON_CHECK(types.has_value());
  // Typing has looked at those of the program; this is one that an operator is written with.
  for (const TensorStructure& made : types->results)
    if (made.rank > kMaxRank)
      return Error(ErrorCode::CompileError,
                   fmt::format("{}: a tensor on the way to the result has rank {}; expected {} at most",
                               call.op->name, made.rank, kMaxRank));
  BATON_TRY_ASSIGN(const std::vector<TensorDims> dims, call.op->dims(call, relations));
  CallResults results{{}, types->isTuple};
  for (size_t i = 0; i < dims.size(); ++i)
    results.tensors.push_back({types->results[i].dtype, dims[i].extents, std::nullopt, std::nullopt});
  const bool mayHaveValues =
      !types->isTuple && types->results[0].rank <= 1 && !isFloat(types->results[0].dtype);
  if (mayHaveValues && call.op->values != nullptr)
    results.tensors[0].values = call.op->values(call, relations, dims[0]);
  return results;
}

}  // namespace baton::ops

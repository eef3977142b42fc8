#include "compiler/ops/call_contexts.h"

#include <fmt/format.h>

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

KnownDims::KnownDims(std::span<const KnownInput> inputs, const DimKnowledge& knowledge, uint32_t firstFresh)
    : inputs_(inputs), knowledge_(knowledge), firstFresh_(firstFresh) {}

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
  if (truth == Truth::False) {
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

KnownInput knownOperand(ir::Module& module, const ir::Function& function, ir::Atom atom) {
  const ir::TypeRef type = module.typeOf(function, atom);
  KnownInput known{type->dtype(), {type->dims().begin(), type->dims().end()}, std::nullopt, std::nullopt};
  if (atom.isVar()) {
    known.values = function.var(atom.var()).valueDims;
    return known;
  }
  const ir::Constant& constant = module.constant(atom.constant());
  if (constant.isExternal()) return known;
  const size_t size = static_cast<size_t>(sizeBytes(constant.dtype));
  if (isFloat(constant.dtype)) {
    if (constant.shape.empty())
      known.constantFloat = scalarFromBits<double>(
          convertScalar(loadScalar(constant.bytes.data(), constant.dtype), constant.dtype, DType::F64));
  } else if (constant.shape.size() <= 1 &&
             constant.bytes.size() <= size * static_cast<size_t>(kMaxValueDims)) {
    known.values.emplace();
    for (size_t i = 0; i + size <= constant.bytes.size(); i += size) {
      const uint64_t bits = loadScalar(constant.bytes.data() + i, constant.dtype);
      if (constant.dtype == DType::U64 && bits > INT64_MAX) {
        known.values.reset();
        break;
      }
      known.values->push_back(DimExpr::constant(static_cast<int64_t>(bits)));
    }
  }
  return known;
}

Result<CallResults> inferCall(const OpCall& call, std::span<const KnownInput> inputs, KnownDims& relations) {
  KnownStructure structure(inputs);
  BATON_TRY_ASSIGN(const std::optional<StructureResult> types, call.op->structure(call, structure));
  BATON_CHECK(types.has_value());
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

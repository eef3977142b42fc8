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
  if (known.dims.size() != 1) return std::nullopt;
  return known.dims[0].asConstant();
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
    : inputs_(inputs), knowledge_(knowledge), nextFresh_(firstFresh) {}

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

DimExpr KnownDims::fresh(std::string_view) { return DimExpr::symbol(DimSymbol(nextFresh_++)); }

}  // namespace baton::ops

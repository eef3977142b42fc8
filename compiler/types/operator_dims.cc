#include "compiler/types/operator_dims.h"

#include <fmt/format.h>

#include "compiler/ir/attr_dims.h"
#include "compiler/ir/dim_size.h"
#include "compiler/ops/relations.h"
#include "compiler/types/dims.h"

namespace baton::types {

namespace {

/// Shapes are made by a few operations from scalars; longer chains are plain integers.
constexpr int kMintDepth = 8;

}  // namespace

OperatorDims::OperatorDims(FunctionDims& function, const ir::Binding& binding, const ir::CallOp& call,
                           int mintDepth)
    : function_(function), binding_(binding), call_(call), attrs_(call.attrs), mintDepth_(mintDepth) {
  for (const ir::Atom& arg : call.args) inputs_.push_back(function.factOf(arg));
  for (size_t i = 0; mintDepth > 0 && i < inputs_.size(); ++i)
    if (inputs_[i].isReached() && !inputs_[i].values) inputs_[i].values = mint(i);
  ir::mapDims(attrs_, [&](const DimExpr& dim) { return function.resolveNamed(dim); });
}

Result<std::vector<ops::TensorDims>> OperatorDims::resultDims(const ops::OpCall& call) {
  BATON_TRY_ASSIGN(std::vector<ops::TensorDims> results, call_.op->dims(call, *this));
  for (const ops::TensorDims& tensor : results)
    for (const DimExpr& extent : tensor.extents)
      if (extent.isTooLarge()) return ops::opError(call, "the shape of the result is too large");
  return results;
}

// Operators in a row would make expressions of expressions, each a few times as large as the one before.
void OperatorDims::nameLargeExtents(std::vector<ops::TensorDims>& results) {
  size_t position = 0;
  for (ops::TensorDims& tensor : results) {
    size_t total = 0;
    for (const DimExpr& extent : tensor.extents) total += ir::sizeOf(extent);
    for (DimExpr& extent : tensor.extents) {
      if (total > ir::kMaxExtentsSize && ir::sizeOf(extent) > ir::kMaxExtentsSize / tensor.extents.size())
        extent = function_.extentSymbol(binding_.var, position);
      ++position;
    }
  }
}

Fact OperatorDims::run() {
  for (const Fact& input : inputs_)
    if (!input.isReached()) return {};
  ir::TypeTable& types = function_.module_.module().types;
  ir::TypeRef shape = function_.shapes_[binding_.var.value()];
  ops::OpCall call{call_.op, &attrs_, inputs_.size()};
  Result<std::vector<ops::TensorDims>> results = resultDims(call);
  if (!results.has_value()) {
    // What it would have been does not matter: it is never computed.
    function_.reportFailure(binding_, results.error().message(), blamed_);
    function_.failsHere(binding_.var);
    return function_.readable(binding_.var, shape);
  }
  if (function_.isFinal_)
    if (auto attrs = ops::explicitReshape({call_.op, &call_.attrs, inputs_.size()}, results.value()[0]))
      function_.explicitAttrs_.insert_or_assign(binding_.var, std::move(*attrs));
  nameLargeExtents(results.value());
  std::vector<DimExpr> dims;
  for (const ops::TensorDims& tensor : results.value())
    dims.insert(dims.end(), tensor.extents.begin(), tensor.extents.end());
  Fact fact{withDims(types, shape, dims), std::nullopt};
  bool mayHaveValues = fact.type->isTensor() && fact.type->rank() <= 1 && !isFloat(fact.type->dtype());
  if (mayHaveValues && call_.op->values != nullptr)
    fact.values = call_.op->values(call, *this, results.value()[0]);
  return fact;
}

const std::vector<DimExpr>* OperatorDims::values(size_t input) const {
  return inputs_[input].values ? &*inputs_[input].values : nullptr;
}

std::optional<double> OperatorDims::constantFloat(size_t input) const {
  ir::Atom atom = function_.resolveAlias(call_.args[input]);
  if (!atom.isConstant()) return std::nullopt;
  const ir::Constant& constant = function_.module_.module().constant(atom.constant());
  if (!constant.shape.empty() || !isFloat(constant.dtype) || constant.isExternal()) return std::nullopt;
  uint64_t bits = loadScalar(constant.bytes.data(), constant.dtype);
  return scalarFromBits<double>(convertScalar(bits, constant.dtype, DType::F64));
}

const std::vector<DimExpr>* OperatorDims::valuesOrSymbols(size_t input) {
  Fact& fact = inputs_[input];
  if (!fact.values) fact.values = mint(input);
  return fact.values ? &*fact.values : nullptr;
}

std::optional<std::vector<DimExpr>> OperatorDims::elements() {
  bool isKnown = call_.op->values != nullptr;
  for (const Fact& input : inputs_) isKnown = isKnown && input.isReached();
  if (!isKnown) return std::nullopt;
  const Fact& result = function_.facts_[binding_.var.value()];
  std::span<const DimExpr> extents = result.type->dims();
  ops::OpCall call{call_.op, &attrs_, inputs_.size()};
  return call_.op->values(call, *this, {std::vector<DimExpr>(extents.begin(), extents.end())});
}

// Elements of an input that get symbols: as far back as operators keep track of elements,
// so that a shape made of a scalar and a number keeps the number.
std::optional<std::vector<DimExpr>> OperatorDims::mint(size_t input) {
  const Fact& fact = inputs_[input];
  ir::Atom atom = function_.resolveAlias(call_.args[input]);
  if (!atom.isVar() || !fact.type->isTensor() || isFloat(fact.type->dtype()) || fact.type->rank() > 1)
    return std::nullopt;
  int64_t count = 1;
  if (fact.type->rank() == 1) {
    std::optional<int64_t> length = fact.type->dims()[0].asConstant();
    if (!length || *length > ops::kMaxValueDims) return std::nullopt;
    count = *length;
  }
  auto known = function_.tied_.find(atom.var());
  if (known != function_.tied_.end()) return known->second;
  int depth = mintDepth_ > 0 ? mintDepth_ - 1 : kMintDepth;
  const ir::Binding* definition = function_.definitionOf(atom.var());
  const ir::CallOp* producer = definition == nullptr ? nullptr : std::get_if<ir::CallOp>(&definition->rhs);
  if (producer != nullptr && depth > 0)
    if (auto made = OperatorDims(function_, *definition, *producer, depth).elements()) return made;
  std::vector<DimExpr> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(function_.elementSymbol(atom.var(), static_cast<size_t>(i), fact.type));
  function_.tied_.emplace(atom.var(), elements);
  function_.changed();
  return elements;
}

Truth OperatorDims::decide(const DimExpr& lhs, Relation relation, const DimExpr& rhs) const {
  return function_.knowledge_.decide(lhs, relation, rhs);
}

DimRange OperatorDims::rangeOf(const DimExpr& expr) const { return function_.knowledge_.rangeOf(expr); }

Result<void> OperatorDims::require(const DimExpr& lhs, Relation relation, const DimExpr& rhs,
                                   std::string message, std::vector<DimExpr> shown) {
  if (lhs.isTooLarge() || rhs.isTooLarge())
    return Error(ErrorCode::CompileError,
                 fmt::format("{}: the shapes are too large to be checked", call_.op->name));
  return function_.require(lhs, relation, rhs, std::move(message), std::move(shown));
}

DimExpr OperatorDims::fresh(std::string_view hint) {
  return function_.symbol(binding_.var, FunctionDims::SymbolKind::Fresh, nextFresh_++, hint);
}

}  // namespace baton::types

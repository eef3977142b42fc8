// One call of an operator, as its dims relation sees it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/op.h"
#include "compiler/types/function_dims.h"

namespace baton::types {

class OperatorDims final : public ops::DimsContext {
 public:
  /// `mintDepth`: how far back elements of inputs get symbols when they are only looked at.
  OperatorDims(FunctionDims& function, const ir::Binding& binding, const ir::CallOp& call, int mintDepth = 0);

  /// The type of the result; unreached when an input is.
  Fact run();

  DType dtype(size_t input) const override { return inputs_[input].type->dtype(); }
  std::span<const DimExpr> dims(size_t input) const override { return inputs_[input].type->dims(); }
  const std::vector<DimExpr>* values(size_t input) const override;
  std::optional<double> constantFloat(size_t input) const override;
  const std::vector<DimExpr>* valuesOrSymbols(size_t input) override;
  Truth decide(const DimExpr& lhs, Relation relation, const DimExpr& rhs) const override;
  DimRange rangeOf(const DimExpr& expr) const override;
  Result<void> require(const DimExpr& lhs, Relation relation, const DimExpr& rhs, std::string message,
                       std::vector<DimExpr> shown) override;
  DimExpr fresh(std::string_view hint) override;
  void blame(size_t input) override { blamed_ = input; }

 private:
  /// What the operator says; an error where an extent is too large to be written down.
  Result<std::vector<ops::TensorDims>> resultDims(const ops::OpCall& call);
  /// Extents that are large expressions become symbols of the result, which the run computes.
  void nameLargeExtents(std::vector<ops::TensorDims>& results);
  /// Elements of the result alone, for a call whose extents are known.
  std::optional<std::vector<DimExpr>> elements();
  std::optional<std::vector<DimExpr>> mint(size_t input);

  FunctionDims& function_;
  const ir::Binding& binding_;
  const ir::CallOp& call_;
  ir::Attrs attrs_;  // names of dims replaced by what they are
  mutable std::vector<Fact> inputs_;
  std::optional<size_t> blamed_;
  uint32_t nextFresh_ = 0;
  int mintDepth_;
};

}  // namespace baton::types

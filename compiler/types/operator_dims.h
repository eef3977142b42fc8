// One call of an operator, as its dims relation sees it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ops/op.h"
#include "compiler/types/function_dims.h"

namespace baton::types {

class OperatorDims final : public ops::DimsContext {
 public:
  OperatorDims(FunctionDims& function, const ir::Binding& binding, const ir::CallOp& call);

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
  FunctionDims& function_;
  const ir::Binding& binding_;
  const ir::CallOp& call_;
  ir::Attrs attrs_;  // names of dims replaced by what they are
  std::vector<Fact> inputs_;
  std::optional<size_t> blamed_;
  uint32_t nextFresh_ = 0;
};

}  // namespace baton::types

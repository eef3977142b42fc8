// The relations of one call outside type inference, where the types of its inputs are
// settled: the evaluator runs them on numbers, the lowering on symbols.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ir/op.h"

namespace baton::ops {

/// What is known of an input.
struct KnownInput {
  DType dtype = DType::F32;
  std::vector<DimExpr> dims;
  std::optional<std::vector<DimExpr>> values;  ///< elements, where they are known
  std::optional<double> constantFloat;
};

/// Elements of a constant integer tensor of rank 0 or 1 with at most kMaxValueDims of them, where they
/// fit an extent.
std::optional<std::vector<DimExpr>> elementsOf(const ir::Constant& constant);
/// The same for any operand: of a variable, what typing knows of them.
std::optional<std::vector<DimExpr>> elementsOf(const ir::Module& module, const ir::Function& function,
                                               ir::Atom atom);

/// What typing knows of a tensor that a function uses.
KnownInput knownConstant(const ir::Constant& constant);
KnownInput knownOperand(ir::Module& module, const ir::Function& function, ir::Atom atom);

/// Every input is known; what is required of it must agree.
class KnownStructure final : public StructureContext {
 public:
  explicit KnownStructure(std::span<const KnownInput> inputs) : inputs_(inputs) {}
  std::optional<DType> dtype(size_t input) const override { return inputs_[input].dtype; }
  std::optional<int> rank(size_t input) const override {
    return static_cast<int>(inputs_[input].dims.size());
  }
  std::optional<int64_t> length(size_t input) const override;
  std::optional<std::vector<int64_t>> constantInts(size_t input) const override;
  Result<void> requireDType(size_t input, DType dtype) override;
  Result<void> requireRank(size_t input, int rank) override;
  Result<void> requireSameDType(size_t a, size_t b) override;
  Result<void> requireSameRank(size_t a, size_t b) override;
  Result<void> provideResultDType(size_t, DType) override { return success(); }
  Result<void> provideResultDTypeOf(size_t, size_t) override { return success(); }
  void blame(size_t) override {}

 private:
  std::span<const KnownInput> inputs_;
};

/// A check that is not certain to hold.
struct OpenRequirement {
  DimConstraint constraint;
  std::string message;
  std::vector<DimExpr> shown;
};

/// What a check that certainly fails is: an error, or one that stays open, where a check of the call itself
/// fails before (a part of a call that is never reached).
enum class CertainFailure : uint8_t { Refused, StaysOpen };

/// Decides by what is given; collects what stays open. Symbols that it has to make itself
/// (for elements that are not known) start at `firstFresh`.
class KnownDims final : public DimsContext {
 public:
  KnownDims(std::span<const KnownInput> inputs, const DimKnowledge& knowledge, uint32_t firstFresh,
            CertainFailure failure = CertainFailure::Refused);
  DType dtype(size_t input) const override { return inputs_[input].dtype; }
  std::span<const DimExpr> dims(size_t input) const override { return inputs_[input].dims; }
  const std::vector<DimExpr>* values(size_t input) const override;
  std::optional<double> constantFloat(size_t input) const override { return inputs_[input].constantFloat; }
  const std::vector<DimExpr>* valuesOrSymbols(size_t input) override;
  Truth decide(const DimExpr& lhs, Relation relation, const DimExpr& rhs) const override;
  DimRange rangeOf(const DimExpr& expr) const override { return knowledge_.rangeOf(expr); }
  Result<void> require(const DimExpr& lhs, Relation relation, const DimExpr& rhs, std::string message,
                       std::vector<DimExpr> shown = {}) override;
  DimExpr fresh(std::string_view hint) override;
  void blame(size_t) override {}

  const std::vector<OpenRequirement>& open() const { return open_; }
  /// Names of the symbols that it made, from `firstFresh` on, and which of them stand for the
  /// elements of inputs.
  const std::vector<std::string>& freshNames() const { return freshNames_; }
  const std::map<size_t, std::vector<DimExpr>>& elementSymbols() const { return made_; }

 private:
  std::span<const KnownInput> inputs_;
  const DimKnowledge& knowledge_;
  uint32_t firstFresh_;
  CertainFailure failure_;
  std::vector<std::string> freshNames_;
  std::map<size_t, std::vector<DimExpr>> made_;
  std::vector<OpenRequirement> open_;
};

/// Types of the results of a call, and elements where they are known.
struct CallResults {
  std::vector<KnownInput> tensors;
  bool isTuple = false;
};
/// `relations` was made of the inputs, too; checks that stay open are its `open()`.
Result<CallResults> inferCall(const OpCall& call, std::span<const KnownInput> inputs, KnownDims& relations);

/// The extents of the results of a call in terms of its operands, as far as its relation tells: for those
/// that typing made symbols of the result. Symbols that the module has not are of nothing there is. Empty
/// for a call that fails for certain.
std::vector<TensorDims> dimsFromOperands(ir::Module& module, const ir::Function& function,
                                         const ir::CallOp& call);

}  // namespace baton::ops

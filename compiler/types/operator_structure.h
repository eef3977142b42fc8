// One call of an operator, as its structure relation sees it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/types/structure.h"

namespace baton::types {

class OperatorStructure final : public ops::StructureContext {
 public:
  OperatorStructure(Structure& structure, Structure::Pending& pending);

  /// Runs the relation and applies what it gives. `waitFor` gets the unknown terms that it
  /// could use.
  Structure::Outcome run(std::vector<Term>& waitFor);

  /// Why a relation that got no answer to the end has none, for a message.
  std::string whatIsMissing();

  std::optional<DType> dtype(size_t input) const override;
  std::optional<int> rank(size_t input) const override;
  std::optional<int64_t> length(size_t input) const override;
  std::optional<std::vector<int64_t>> constantInts(size_t input) const override;
  Result<void> requireDType(size_t input, DType dtype) override;
  Result<void> requireRank(size_t input, int rank) override;
  Result<void> requireSameDType(size_t a, size_t b) override;
  Result<void> requireSameRank(size_t a, size_t b) override;
  Result<void> provideResultDType(size_t result, DType dtype) override;
  Result<void> provideResultDTypeOf(size_t result, size_t input) override;
  void blame(size_t input) override { blamed_ = input; }

 private:
  struct Input {
    Term tensor;
    std::optional<ir::Atom> atom;  // when it is known which value it is
    size_t written;                // position among the operands as written
  };
  /// False when an input list is not known yet, or after an error.
  bool collectInputs(std::vector<Term>& waitFor);
  ir::Atom resolve(ir::Atom atom) const;
  const ir::Constant* constantOf(size_t input) const;
  Term dtypeTerm(size_t input) const { return structure_.terms_.children(inputs_[input].tensor)[0]; }
  Term rankTerm(size_t input) const { return structure_.terms_.children(inputs_[input].tensor)[1]; }
  Result<void> provideDType(size_t result, Term dtype);
  std::string printInput(size_t input) const;
  Error mismatch(size_t input, const std::string& expected) const;
  std::vector<std::optional<int64_t>> firstExtentsOf(const ops::StructureResult& result) const;
  void apply(const ops::StructureResult& result);
  void report(const std::string& message);
  SourceLocation locationOf(size_t written) const;

  Structure& structure_;
  Structure::Pending& pending_;
  const ir::Function& function_;
  const ir::Binding& binding_;
  const ir::CallOp& call_;
  std::vector<Input> inputs_;
  std::optional<size_t> blamed_;
  bool failed_ = false;
};

}  // namespace baton::types

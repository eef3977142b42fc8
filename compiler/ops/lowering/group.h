// A group of operators as the lowering sees it: tensors and calls, taken from the body of a
// primitive function, and the descriptor of the kernel that it becomes.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/ops/call_contexts.h"
#include "compiler/ops/lowering/lowering.h"

namespace baton::ops {

struct GroupTensor {
  enum class Source : uint8_t {
    Input,        ///< `index`: of the kernel's inputs
    ScalarInput,  ///< `index`: of the kernel's scalar inputs
    Constant,     ///< every element is `bits`
    Opaque,       ///< a constant of which only the values are known to relations
    Result,       ///< `index`: of the call; `result`: which of its results
  };
  Source source = Source::Input;
  uint32_t index = 0;
  uint32_t result = 0;
  uint64_t bits = 0;
  KnownInput known;  ///< dtype, dims, and elements where they are known
};

struct GroupCall {
  const OpDef* op = nullptr;
  ir::Attrs attrs;
  std::vector<TensorId> inputs;
  std::vector<TensorId> results;
  std::vector<KnownInput> knownInputs;
};

struct Group {
  std::vector<GroupTensor> tensors;
  std::vector<GroupCall> calls;   ///< in order of evaluation; composite ones are expanded
  std::vector<TensorId> results;  ///< in order
  DimKnowledge knowledge;
  std::vector<DimSymbol> symbols;  ///< by symbol of the descriptor
  KernelDescriptor descriptor;
  std::vector<DimExpr> scalarDims;

  const GroupTensor& tensor(TensorId id) const { return tensors[id.value()]; }
  std::span<const DimExpr> dims(TensorId id) const { return tensor(id).known.dims; }
  DType dtype(TensorId id) const { return tensor(id).known.dtype; }
  bool isScalar(TensorId id) const { return tensor(id).known.dims.empty(); }
  bool isOne(const DimExpr& dim) const { return dim.asConstant() == 1; }
  bool areEqual(std::span<const DimExpr> a, std::span<const DimExpr> b) const;
};

Result<Group> buildGroup(ir::Module& module, const ir::Function& primitive);

}  // namespace baton::ops

// The check before a kernel runs, compiled from its descriptor: symbols are read from
// operands and scalars, and every extent that does not define one is compared. A kernel is
// never entered with extents that disagree with its buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/abi/descriptor.h"
#include "kernels/abi/dim_program.h"
#include "vm/object.h"

namespace baton::vm {

class KernelPlan {
 public:
  KernelPlan() = default;
  /// The descriptor has passed validateDescriptor() and outlives the plan.
  explicit KernelPlan(const KernelDescriptor& descriptor);

  uint32_t symbolCount() const { return symbolCount_; }
  uint32_t inputCount() const { return inputCount_; }
  uint32_t operandCount() const { return operandCount_; }
  uint32_t scalarInputCount() const { return scalarInputCount_; }
  uint32_t scalarOutputCount() const { return scalarOutputCount_; }
  uint32_t scalarCount() const { return symbolCount() + scalarInputCount_ + scalarOutputCount_; }

  /// `scalars` has room for scalarCount() values, of which the scalar inputs are there; fills in the
  /// symbols. `addresses` is the union of the bits of all operands' data. Whether the kernel may run.
  bool check(Tensor* const* operands, int64_t* scalars, uint64_t addresses) const {
    for (uint32_t i = 0; i < symbolCount_; ++i) {
      const Source& source = symbols_[i];
      scalars[i] = source.isScalar ? scalars[source.index] : operands[source.index]->extents()[source.axis];
    }
    uint64_t differences = 0;
    for (const ExtentCheck& check : symbolChecks_)
      differences |=
          static_cast<uint64_t>(operands[check.operand]->extents()[check.axis] ^ scalars[check.value]);
    for (const ExtentCheck& check : constantChecks_)
      differences |= static_cast<uint64_t>(operands[check.operand]->extents()[check.axis] ^ check.value);
    for (uint32_t i = inputCount_; i < operandCount_; ++i)
      differences |= static_cast<uint64_t>(!operands[i]->isOutput());
    if ((addresses & alignmentMask_) != 0) [[unlikely]]
      differences |= misalignment(operands);
    return differences == 0 && (!hasSlowChecks_ || checkSlowly(operands, scalars));
  }

  /// Why check() said no: found and expected, with the kernel's name.
  std::string explain(Tensor* const* operands, int64_t* scalars) const;

 private:
  struct Source {
    bool isScalar;
    uint32_t index;  // operand, or position in scalars
    uint32_t axis;
  };
  struct ExtentCheck {
    uint32_t operand;
    uint32_t axis;
    int64_t value;  // position in scalars, or the extent
  };
  struct PointerCheck {
    uint32_t operand;
    uint64_t mask;
  };
  struct ExpressionCheck {
    uint32_t operand;
    uint32_t axis;
    DimProgram program;
  };
  struct ConstraintCheck {
    DimProgram lhs;
    Relation relation;
    DimProgram rhs;
  };

  /// Bits of addresses that ought to be zero, operand by operand.
  uint64_t misalignment(Tensor* const* operands) const;
  bool checkSlowly(Tensor* const* operands, const int64_t* scalars) const;
  const KernelOperand& operandOf(uint32_t index) const {
    return index < inputCount_ ? descriptor_->inputs[index] : descriptor_->outputs[index - inputCount_];
  }
  std::string operandText(uint32_t index) const;

  const KernelDescriptor* descriptor_ = nullptr;
  uint32_t symbolCount_ = 0;
  uint32_t inputCount_ = 0;
  uint32_t operandCount_ = 0;
  uint32_t scalarInputCount_ = 0;
  uint32_t scalarOutputCount_ = 0;
  bool hasSlowChecks_ = false;
  uint64_t alignmentMask_ = 0;  // of all operands
  std::vector<Source> symbols_;
  std::vector<ExtentCheck> symbolChecks_;
  std::vector<ExtentCheck> constantChecks_;
  std::vector<PointerCheck> pointerChecks_;
  std::vector<ExpressionCheck> expressions_;
  std::vector<ConstraintCheck> constraints_;
};

}  // namespace baton::vm

#include "vm/kernel_plan.h"

#include <fmt/format.h>

#include "vm/tensor_text.h"

namespace baton::vm {

KernelPlan::KernelPlan(const KernelDescriptor& descriptor)
    : descriptor_(&descriptor),
      symbolCount_(static_cast<uint32_t>(descriptor.symbols.size())),
      inputCount_(static_cast<uint32_t>(descriptor.inputs.size())),
      operandCount_(static_cast<uint32_t>(descriptor.inputs.size() + descriptor.outputs.size())),
      scalarInputCount_(static_cast<uint32_t>(descriptor.scalarInputs.size())),
      scalarOutputCount_(static_cast<uint32_t>(descriptor.scalarOutputs.size())) {
  for (const KernelSymbol& symbol : descriptor.symbols) {
    const bool isScalar = symbol.from == KernelSymbol::From::Scalar;
    symbols_.push_back({isScalar, isScalar ? symbolCount_ + symbol.index : symbol.index, symbol.axis});
  }
  for (uint32_t index = 0; index < operandCount_; ++index) {
    const KernelOperand& operand = operandOf(index);
    if (operand.alignmentBytes > 1) pointerChecks_.push_back({index, uint64_t{operand.alignmentBytes} - 1});
    alignmentMask_ |= uint64_t{operand.alignmentBytes} - 1;
    for (uint32_t axis = 0; axis < operand.extents.size(); ++axis) {
      const DimExpr& dim = operand.extents[axis];
      if (const std::optional<int64_t> constant = dim.asConstant()) {
        constantChecks_.push_back({index, axis, *constant});
      } else if (const std::optional<DimSymbol> symbol = dim.asSymbol()) {
        const Source& source = symbols_[symbol->value()];
        if (source.isScalar || source.index != index || source.axis != axis)
          symbolChecks_.push_back({index, axis, symbol->value()});
      } else {
        expressions_.push_back({index, axis, DimProgram(dim)});
      }
    }
  }
  for (const DimConstraint& constraint : descriptor.constraints)
    constraints_.push_back({DimProgram(constraint.lhs), constraint.relation, DimProgram(constraint.rhs)});
  hasSlowChecks_ = !expressions_.empty() || !constraints_.empty();
}

uint64_t KernelPlan::misalignment(Tensor* const* operands) const {
  uint64_t bits = 0;
  for (const PointerCheck& check : pointerChecks_)
    bits |= reinterpret_cast<uintptr_t>(operands[check.operand]->data) & check.mask;
  return bits;
}

bool KernelPlan::checkSlowly(Tensor* const* operands, const int64_t* scalars) const {
  for (const ExpressionCheck& check : expressions_)
    if (check.program.evaluate(scalars) != operands[check.operand]->extents()[check.axis]) return false;
  for (const ConstraintCheck& check : constraints_) {
    const std::optional<int64_t> lhs = check.lhs.evaluate(scalars);
    const std::optional<int64_t> rhs = check.rhs.evaluate(scalars);
    if (!lhs || !rhs || !holds(check.relation, *lhs, *rhs)) return false;
  }
  return true;
}

std::string KernelPlan::operandText(uint32_t index) const {
  return index < inputCount_ ? fmt::format("input {}", index) : fmt::format("output {}", index - inputCount_);
}

std::string KernelPlan::explain(Tensor* const* operands, int64_t* scalars) const {
  check(operands, scalars, 0);  // for the symbols
  const auto name = [&](DimSymbol symbol) { return descriptor_->symbols[symbol.value()].name; };
  const auto value = [&](DimSymbol symbol) { return std::optional(scalars[symbol.value()]); };
  for (uint32_t index = 0; index < operandCount_; ++index) {
    const KernelOperand& operand = operandOf(index);
    const Tensor& tensor = *operands[index];
    for (size_t axis = 0; axis < operand.extents.size(); ++axis) {
      const Result<int64_t> expected = operand.extents[axis].evaluate(value);
      if (expected.has_value() && expected.assume_value() == tensor.extents()[axis]) continue;
      const std::string expectedText = expected.has_value() ? fmt::format("{}", expected.assume_value())
                                                            : expected.assume_error().message();
      return fmt::format("kernel {}: dimension {} of {} is {}, expected {} = {}", descriptor_->name, axis,
                         operandText(index), tensor.extents()[axis], operand.extents[axis].print(name),
                         expectedText);
    }
    if (reinterpret_cast<uintptr_t>(tensor.data) % operand.alignmentBytes != 0)
      return fmt::format("kernel {}: the memory of {} is not aligned to {} bytes", descriptor_->name,
                         operandText(index), operand.alignmentBytes);
    if (index >= inputCount_ && !tensor.isOutput())
      return fmt::format("kernel {}: {} is memory that may not be written", descriptor_->name,
                         operandText(index));
  }
  for (const DimConstraint& constraint : descriptor_->constraints) {
    const Result<int64_t> lhs = constraint.lhs.evaluate(value);
    const Result<int64_t> rhs = constraint.rhs.evaluate(value);
    if (lhs.has_value() && rhs.has_value() &&
        holds(constraint.relation, lhs.assume_value(), rhs.assume_value()))
      continue;
    return fmt::format("kernel {}: {} {} {} does not hold: found {} and {}", descriptor_->name,
                       constraint.lhs.print(name), relationName(constraint.relation),
                       constraint.rhs.print(name),
                       lhs.has_value() ? fmt::format("{}", lhs.assume_value()) : "nothing",
                       rhs.has_value() ? fmt::format("{}", rhs.assume_value()) : "nothing");
  }
  return fmt::format("kernel {}: its operands are not what it expects", descriptor_->name);
}

}  // namespace baton::vm

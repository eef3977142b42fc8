#include "kernels/abi/descriptor_check.h"

#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

namespace baton {

bool isOverSymbols(const DimExpr& expr, size_t symbolCount) {
  if (expr.isTooLarge()) return false;
  std::vector<DimSymbol> symbols;
  expr.collectSymbols(symbols);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](DimSymbol symbol) { return symbol.value() < symbolCount; });
}

namespace {

class Validator {
 public:
  explicit Validator(const KernelDescriptor& descriptor) : d_(descriptor) {}

  Result<void> run() const {
    if (d_.inputs.size() + d_.outputs.size() > kMaxKernelOperands)
      return error(fmt::format("{} operands: at most {} are allowed", d_.inputs.size() + d_.outputs.size(),
                               kMaxKernelOperands));
    const size_t scalars = d_.symbols.size() + d_.scalarInputs.size() + d_.scalarOutputs.size();
    if (scalars > kMaxKernelScalars)
      return error(fmt::format("{} scalars: at most {} are allowed", scalars, kMaxKernelScalars));
    for (size_t i = 0; i < d_.inputs.size(); ++i)
      BATON_TRY(operand(d_.inputs[i], fmt::format("input {}", i), false));
    for (size_t i = 0; i < d_.outputs.size(); ++i)
      BATON_TRY(operand(d_.outputs[i], fmt::format("output {}", i), true));
    for (size_t i = 0; i < d_.symbols.size(); ++i) BATON_TRY(symbol(i));
    for (const DimConstraint& constraint : d_.constraints)
      if (!isOverSymbols(constraint.lhs, d_.symbols.size()) ||
          !isOverSymbols(constraint.rhs, d_.symbols.size()))
        return error("a constraint uses a symbol that is not declared, or is too large");
    return success();
  }

 private:
  Error error(const std::string& message) const {
    return Error(ErrorCode::VerifyFailed, fmt::format("kernel {}: {}", d_.name, message));
  }

  Result<void> operand(const KernelOperand& operand, const std::string& name, bool isOutput) const {
    if (operand.extents.size() > kMaxKernelRank)
      return error(
          fmt::format("{} has rank {}: at most {} is allowed", name, operand.extents.size(), kMaxKernelRank));
    for (size_t axis = 0; axis < operand.extents.size(); ++axis)
      if (!isOverSymbols(operand.extents[axis], d_.symbols.size()))
        return error(
            fmt::format("axis {} of {} uses a symbol that is not declared, or is too large", axis, name));
    if (!std::has_single_bit(operand.alignmentBytes) || operand.alignmentBytes > kMaxKernelAlignment)
      return error(fmt::format("{} has alignment {}: expected a power of two of at most {}", name,
                               operand.alignmentBytes, kMaxKernelAlignment));
    if (operand.independentAxis && *operand.independentAxis >= operand.extents.size())
      return error(fmt::format("independent axis {} of {} is out of range: its rank is {}",
                               *operand.independentAxis, name, operand.extents.size()));
    if (!isOutput && !operand.mayAlias.empty())
      return error(fmt::format("{} lists aliases: only outputs may", name));
    for (const uint32_t alias : operand.mayAlias) {
      if (alias >= d_.inputs.size())
        return error(fmt::format("{} may alias input {}: there are {}", name, alias, d_.inputs.size()));
      if (sizeBytes(d_.inputs[alias].dtype) != sizeBytes(operand.dtype))
        return error(fmt::format("{} may alias input {}, whose elements have another size", name, alias));
    }
    return success();
  }

  Result<void> symbol(size_t number) const {
    const KernelSymbol& symbol = d_.symbols[number];
    if (symbol.from == KernelSymbol::From::Scalar) {
      if (symbol.index >= d_.scalarInputs.size())
        return error(fmt::format("symbol {} comes from scalar input {}: there are {}", symbol.name,
                                 symbol.index, d_.scalarInputs.size()));
      const DType type = d_.scalarInputs[symbol.index];
      if (!isInteger(type))
        return error(fmt::format("symbol {} comes from a scalar input of type {}: expected an integer",
                                 symbol.name, dtypeShortName(type)));
      return success();
    }
    if (symbol.from != KernelSymbol::From::Operand)
      return error(fmt::format("symbol {} comes from nowhere known", symbol.name));
    const size_t inputs = d_.inputs.size();
    if (symbol.index >= inputs + d_.outputs.size())
      return error(fmt::format("symbol {} comes from operand {}: there are {}", symbol.name, symbol.index,
                               inputs + d_.outputs.size()));
    const KernelOperand& operand =
        symbol.index < inputs ? d_.inputs[symbol.index] : d_.outputs[symbol.index - inputs];
    if (symbol.axis >= operand.extents.size())
      return error(fmt::format("symbol {} comes from axis {} of operand {}, whose rank is {}", symbol.name,
                               symbol.axis, symbol.index, operand.extents.size()));
    return success();
  }

  const KernelDescriptor& d_;
};

}  // namespace

Result<void> validateDescriptor(const KernelDescriptor& descriptor) { return Validator(descriptor).run(); }

}  // namespace baton

#include "kernels/abi/call_plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace baton {

namespace {

const KernelOperand& operandAt(const KernelDescriptor& descriptor, size_t index) {
  const size_t inputs = descriptor.inputs.size();
  return index < inputs ? descriptor.inputs[index] : descriptor.outputs[index - inputs];
}

std::string operandName(const KernelDescriptor& descriptor, size_t index) {
  const size_t inputs = descriptor.inputs.size();
  return index < inputs ? fmt::format("input {}", index) : fmt::format("output {}", index - inputs);
}

std::string dimText(const KernelDescriptor& descriptor, const DimExpr& expr) {
  return expr.print([&](DimSymbol symbol) { return descriptor.symbols[symbol.value()].name; });
}

/// [low, high] that a comparison of a symbol with a constant allows; nothing for `!=`.
std::optional<std::pair<int64_t, int64_t>> rangeOf(Relation relation, int64_t bound) {
  switch (relation) {
    case Relation::Eq: return std::pair(bound, bound);
    case Relation::Ne: return std::nullopt;
    case Relation::Lt:
      // Nothing is below the least: an empty range.
      return bound == INT64_MIN ? std::pair(INT64_MAX, INT64_MIN) : std::pair(INT64_MIN, bound - 1);
    case Relation::Le: return std::pair(INT64_MIN, bound);
    case Relation::Gt:
      return bound == INT64_MAX ? std::pair(INT64_MAX, INT64_MIN) : std::pair(bound + 1, INT64_MAX);
    case Relation::Ge: return std::pair(bound, INT64_MAX);
  }
  return std::nullopt;
}

}  // namespace

CallPlan CallPlan::build(const KernelDescriptor& descriptor) {
  CallPlan plan;
  const auto symbolCount = static_cast<uint32_t>(descriptor.symbols.size());
  for (uint32_t i = 0; i < symbolCount; ++i) {
    const KernelSymbol& symbol = descriptor.symbols[i];
    if (symbol.from == KernelSymbol::From::Operand)
      plan.binds_.push_back({i, symbol.index, symbol.axis});
    else
      plan.scalarBinds_.push_back({i, symbolCount + symbol.index});
  }
  const auto bindsHere = [&](uint32_t symbol, uint32_t operand, uint32_t axis) {
    const KernelSymbol& s = descriptor.symbols[symbol];
    return s.from == KernelSymbol::From::Operand && s.index == operand && s.axis == axis;
  };
  const auto operands = static_cast<uint32_t>(descriptor.inputs.size() + descriptor.outputs.size());
  for (uint32_t i = 0; i < operands; ++i) {
    const KernelOperand& operand = operandAt(descriptor, i);
    const auto rank = static_cast<uint32_t>(operand.extents.size());
    uint32_t earlier = 0;
    while (earlier < i && operandAt(descriptor, earlier).extents != operand.extents) ++earlier;
    const bool isRepeated = earlier < i && rank > 0;
    if (isRepeated && rank == 2) plan.equalPairs_.push_back({i, earlier});
    if (isRepeated && rank != 2) plan.equalShapes_.push_back({i, earlier, rank});
    for (uint32_t axis = 0; axis < rank && !isRepeated; ++axis) {
      const DimExpr& extent = operand.extents[axis];
      if (const auto symbol = extent.asSymbol()) {
        if (!bindsHere(symbol->value(), i, axis)) plan.equalSymbols_.push_back({i, axis, symbol->value()});
      } else if (const auto constant = extent.asConstant()) {
        plan.equalConstants_.push_back({i, axis, *constant});
      } else {
        plan.equalDims_.push_back({i, axis, DimProgram(extent)});
      }
    }
    // Elements are always aligned to their own size or this is said elsewhere: memory that is
    // not is refused too.
    const uint64_t alignment =
        std::max<uint64_t>(operand.alignmentBytes, static_cast<uint64_t>(sizeBytes(operand.dtype)));
    if (alignment > 1) plan.alignments_.push_back({i, alignment - 1});
  }
  for (const DimConstraint& constraint : descriptor.constraints) {
    const auto symbol = constraint.lhs.asSymbol();
    const auto bound = constraint.rhs.asConstant();
    const auto range = symbol && bound ? rangeOf(constraint.relation, *bound) : std::nullopt;
    if (range)
      plan.ranges_.push_back({symbol->value(), range->first, range->second});
    else
      plan.constraints_.push_back(
          {DimProgram(constraint.lhs), constraint.relation, DimProgram(constraint.rhs)});
  }
  plan.hasGeneralChecks_ = !plan.equalDims_.empty() || !plan.constraints_.empty();
  return plan;
}

bool CallPlan::checkGeneral(const int64_t* const* extents, const int64_t* scalars) const {
  for (const EqualDim& e : equalDims_)
    if (e.dim.evaluate(scalars) != extents[e.operand][e.axis]) return false;
  for (const Constraint& c : constraints_) {
    const std::optional<int64_t> lhs = c.lhs.evaluate(scalars);
    const std::optional<int64_t> rhs = c.rhs.evaluate(scalars);
    if (!lhs || !rhs || !holds(c.relation, *lhs, *rhs)) return false;
  }
  return true;
}

Error CallPlan::explain(const KernelDescriptor& descriptor, const int64_t* const* extents,
                        int64_t* scalars) const {
  for (const Bind& b : binds_) scalars[b.symbol] = extents[b.operand][b.axis];
  for (const ScalarBind& b : scalarBinds_) scalars[b.symbol] = scalars[b.scalar];
  const auto valueOf = [&](DimSymbol symbol) { return std::optional<int64_t>(scalars[symbol.value()]); };
  const size_t operands = descriptor.inputs.size() + descriptor.outputs.size();
  for (size_t i = 0; i < operands; ++i) {
    const KernelOperand& operand = operandAt(descriptor, i);
    for (size_t axis = 0; axis < operand.extents.size(); ++axis) {
      const DimExpr& extent = operand.extents[axis];
      const Result<int64_t> expected = extent.evaluate(valueOf);
      const int64_t found = extents[i][axis];
      const std::string place =
          fmt::format("kernel {}: axis {} of {}", descriptor.name, axis, operandName(descriptor, i));
      if (!expected.has_value())
        return Error(ErrorCode::ProgramError,
                     fmt::format("{} has extent {}: expected {}, which cannot be computed: {}", place, found,
                                 dimText(descriptor, extent), expected.error().message()));
      if (expected.value() == found) continue;
      const std::string meaning =
          extent.isConstant() ? "" : fmt::format(" = {}", dimText(descriptor, extent));
      return Error(ErrorCode::ProgramError,
                   fmt::format("{} has extent {}: expected {}{}", place, found, expected.value(), meaning));
    }
  }
  for (const DimConstraint& constraint : descriptor.constraints) {
    const Result<int64_t> lhs = constraint.lhs.evaluate(valueOf);
    const Result<int64_t> rhs = constraint.rhs.evaluate(valueOf);
    if (lhs.has_value() && rhs.has_value() && holds(constraint.relation, lhs.value(), rhs.value())) continue;
    const auto text = [](const Result<int64_t>& value) {
      return value.has_value() ? fmt::format("{}", value.value()) : std::string("not computable");
    };
    return Error(ErrorCode::ProgramError,
                 fmt::format("kernel {}: expected {} {} {}, found {} and {}", descriptor.name,
                             dimText(descriptor, constraint.lhs), relationName(constraint.relation),
                             dimText(descriptor, constraint.rhs), text(lhs), text(rhs)));
  }
  return Error(ErrorCode::Internal, fmt::format("kernel {}: its operands agree", descriptor.name));
}

Error CallPlan::explainAlignment(const KernelDescriptor& descriptor, void* const* buffers) const {
  for (const Alignment& a : alignments_) {
    const uint64_t off = reinterpret_cast<uintptr_t>(buffers[a.operand]) & a.mask;
    if (off == 0) continue;
    return Error(ErrorCode::InvalidArgument,
                 fmt::format("kernel {}: the data of {} is {} bytes off: expected an alignment of {}",
                             descriptor.name, operandName(descriptor, a.operand), off, a.mask + 1));
  }
  return Error(ErrorCode::Internal, fmt::format("kernel {}: its operands are aligned", descriptor.name));
}

}  // namespace baton

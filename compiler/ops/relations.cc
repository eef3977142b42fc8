#include "compiler/ops/relations.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace baton::ops {

namespace {

DimExpr factorOf(const DimExpr::Factor& factor) {
  return DimExpr::opaque(factor.opaque->op, factor.opaque->a, factor.opaque->b);
}

/// The extents that an extent was broadcast from, when it has the form that broadcastExtent
/// gives: max(all) * min(all, 1).
std::vector<DimExpr> broadcastFrom(const DimExpr& extent) {
  const auto terms = extent.terms();
  if (terms.size() != 1 || terms[0].coefficient != 1 || terms[0].factors.size() != 2) return {extent};
  const DimExpr::Factor* least = nullptr;
  const DimExpr::Factor* greatest = nullptr;
  for (const DimExpr::Factor& factor : terms[0].factors) {
    if (factor.opaque == nullptr) return {extent};
    if (factor.opaque->op == DimOp::Min) least = &factor;
    if (factor.opaque->op == DimOp::Max) greatest = &factor;
  }
  if (least == nullptr || greatest == nullptr) return {extent};
  std::vector<DimExpr> low = operandsOf(DimOp::Min, factorOf(*least));
  std::vector<DimExpr> high = operandsOf(DimOp::Max, factorOf(*greatest));
  std::erase(low, one());
  return low == high ? high : std::vector<DimExpr>{extent};
}

}  // namespace

Error opError(const OpCall& call, const std::string& message) {
  return Error(ErrorCode::CompileError, fmt::format("{}: {}", call.op->name, message));
}

Result<DimExpr> broadcastExtent(DimsContext& context, const DimExpr& a, const DimExpr& b,
                                const std::string& message, std::vector<DimExpr> shown) {
  if (context.decide(a, Relation::Eq, b) == Truth::True) return a.isConstant() ? a : b.isConstant() ? b : a;
  if (context.decide(a, Relation::Eq, one()) == Truth::True) return b;
  if (context.decide(b, Relation::Eq, one()) == Truth::True) return a;
  const bool aIsWide = context.decide(a, Relation::Ne, one()) == Truth::True;
  const bool bIsWide = context.decide(b, Relation::Ne, one()) == Truth::True;
  if (aIsWide && bIsWide) {
    BATON_TRY(context.require(a, Relation::Eq, b, message, std::move(shown)));
    return a.isConstant() ? a : b.isConstant() ? b : a;
  }
  // At least one of |a - 1|, |b - 1|, |a - b| is zero.
  DimExpr conflict = distance(a, b);
  if (!aIsWide) conflict = min(conflict, distance(a, one()));
  if (!bIsWide) conflict = min(conflict, distance(b, one()));
  BATON_TRY(context.require(conflict, Relation::Eq, DimExpr(), message, std::move(shown)));
  if (aIsWide) return a;
  if (bIsWide) return b;
  // All extents at once, so that one that has been broadcast with another stays as it is when
  // it meets that again, and repeated broadcasts do not nest.
  std::vector<DimExpr> all = broadcastFrom(a);
  for (DimExpr& extent : broadcastFrom(b)) all.push_back(std::move(extent));
  DimExpr greatest = all[0];
  DimExpr least = all[0];
  for (size_t i = 1; i < all.size(); ++i) {
    greatest = max(greatest, all[i]);
    least = min(least, all[i]);
  }
  if (context.decide(least, Relation::Ge, one()) == Truth::True) return greatest;
  return greatest * min(least, one());
}

std::string inputName(const OpCall& call, size_t input) {
  const auto& inputs = call.op->inputs;
  if (input < inputs.size() && !inputs[input].isList) return std::string(inputs[input].name);
  const size_t listStart = inputs.size() - 1;
  return fmt::format("element {} of the {}", input - listStart, inputs.back().name);
}

Result<std::optional<DType>> givenOrInputDType(StructureContext& context, std::optional<DType> given,
                                               size_t input) {
  if (given) {
    BATON_TRY(context.provideResultDType(0, *given));
    return given;
  }
  BATON_TRY(context.provideResultDTypeOf(0, input));
  return context.dtype(input);
}

Result<void> checkInputs(const OpCall& call, StructureContext& context) {
  const auto& inputs = call.op->inputs;
  size_t required = 0;
  for (const InputSpec& input : inputs) required += input.isOptional || input.isList ? 0 : 1;
  const bool hasList = !inputs.empty() && inputs.back().isList;
  if (call.inputCount < required || (!hasList && call.inputCount > inputs.size())) {
    const bool isRange = required != inputs.size();
    return opError(call, fmt::format("{} inputs expected, {} given",
                                     hasList   ? fmt::format("at least {}", required)
                                     : isRange ? fmt::format("{} to {}", required, inputs.size())
                                               : fmt::format("{}", required),
                                     call.inputCount));
  }
  for (size_t i = 0; i < call.inputCount; ++i) {
    const std::optional<DType> dtype = context.dtype(i);
    const DTypeClass types = inputs[std::min(i, inputs.size() - 1)].types;
    if (!dtype || isInClass(*dtype, types)) continue;
    context.blame(i);
    return opError(call, fmt::format("the {} has element type {}; expected {}", inputName(call, i),
                                     dtypeName(*dtype), dtypeClassName(types)));
  }
  return success();
}

Result<int> normaliseAxis(const OpCall& call, std::string_view what, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    return opError(call, rank == 0 ? fmt::format("{} {} given for a scalar, which has no axes", what, axis)
                                   : fmt::format("{} {} is outside [{}, {})", what, axis, -rank, rank));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

std::optional<std::vector<int64_t>> asConstants(std::span<const DimExpr> dims) {
  std::vector<int64_t> out;
  for (const DimExpr& dim : dims) {
    const std::optional<int64_t> value = dim.asConstant();
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

Result<std::optional<int>> shapeRank(const OpCall& call, StructureContext& context,
                                     const ShapeSource& source) {
  if (source.attribute != nullptr) {
    if (call.inputCount > source.input)
      return opError(call, fmt::format("the {} is given twice, as attribute and as input", source.what));
    return static_cast<int>(source.attribute->size());
  }
  if (call.inputCount <= source.input)
    return opError(call, fmt::format("no {} is given: neither an attribute nor an input", source.what));
  BATON_TRY(context.requireRank(source.input, 1));
  const std::optional<int64_t> length = context.length(source.input);
  if (!length) return std::nullopt;
  return static_cast<int>(*length);
}

Result<std::vector<DimExpr>> shapeElements(const OpCall& call, DimsContext& context,
                                           const ShapeSource& source) {
  if (source.attribute != nullptr) return *source.attribute;
  const std::vector<DimExpr>* elements = context.valuesOrSymbols(source.input);
  if (elements == nullptr) {
    context.blame(source.input);
    return opError(call,
                   fmt::format("the number of elements of the {} is not known when compiling", source.what));
  }
  return *elements;
}

Result<std::vector<DimExpr>> shapeExtents(const OpCall& call, DimsContext& context,
                                          const ShapeSource& source) {
  BATON_TRY_ASSIGN(std::vector<DimExpr> extents, shapeElements(call, context, source));
  for (size_t i = 0; i < extents.size(); ++i)
    BATON_TRY(context.require(
        extents[i], Relation::Ge, DimExpr(),
        fmt::format("{}: element {} of the {} is negative ({{0}})", call.op->name, i, source.what)));
  return extents;
}

DimExpr distance(const DimExpr& a, const DimExpr& b) { return max(a - b, b - a); }

DimExpr product(std::span<const DimExpr> dims) {
  // A few long sums, multiplied out, would be more than a dim can be. An extent is max(extent, 0), one
  // factor.
  constexpr size_t kMaxTerms = 4;
  DimExpr result = DimExpr::constant(1);
  for (const DimExpr& dim : dims)
    result = result * (dim.terms().size() > kMaxTerms ? max(dim, DimExpr()) : dim);
  return result;
}

std::optional<size_t> valueCount(const TensorDims& result) {
  if (result.extents.empty()) return 1;
  if (result.extents.size() > 1) return std::nullopt;
  const std::optional<int64_t> extent = result.extents[0].asConstant();
  if (!extent || *extent < 0 || *extent > kMaxValueDims) return std::nullopt;
  return static_cast<size_t>(*extent);
}

std::string shapePlaceholders(size_t first, size_t count) {
  std::string out = "(";
  for (size_t i = 0; i < count; ++i) out += fmt::format("{}{{{}}}", i == 0 ? "" : ", ", first + i);
  return out + (count == 1 ? ",)" : ")");
}

Result<std::vector<DimExpr>> broadcastShapes(const OpCall& call, DimsContext& context,
                                             std::span<const size_t> inputs) {
  std::vector<DimExpr> result = copyDims(context, inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) {
    std::vector<DimExpr> other = copyDims(context, inputs[i]);
    const std::vector<DimExpr> before = result;
    std::vector<DimExpr> shown = before;
    shown.insert(shown.end(), other.begin(), other.end());
    if (other.size() > result.size()) std::swap(result, other);
    const size_t offset = result.size() - other.size();
    for (size_t axis = 0; axis < other.size(); ++axis) {
      const std::string message =
          fmt::format("{}: the shapes {} and {} do not broadcast in dimension {}", call.op->name,
                      shapePlaceholders(0, before.size()),
                      shapePlaceholders(before.size(), shown.size() - before.size()), axis + offset);
      context.blame(inputs[i]);
      BATON_TRY_ASSIGN(result[offset + axis],
                       broadcastExtent(context, result[offset + axis], other[axis], message, shown));
    }
  }
  return result;
}

Result<DimExpr> requireEqual(DimsContext& context, const DimExpr& a, const DimExpr& b, std::string message) {
  BATON_TRY(context.require(a, Relation::Eq, b, std::move(message)));
  return b.isConstant() ? b : a;
}

bool fitsDType(const DimsContext& context, const DimExpr& expr, DType dtype) {
  if (expr.isTooLarge()) return false;
  if (!isInteger(dtype)) return false;
  if (expr.asSymbol() && dtype == DType::I64) return true;
  const DimRange range = context.rangeOf(expr);
  if (!expr.isConstant() && (range.low == INT64_MIN || range.high == INT64_MAX)) return false;
  const int bits = 8 * sizeBytes(dtype);
  if (isUnsignedInt(dtype)) return range.low >= 0 && (bits == 64 || range.high < (int64_t{1} << bits));
  if (bits == 64) return true;
  return range.low >= -(int64_t{1} << (bits - 1)) && range.high < (int64_t{1} << (bits - 1));
}

}  // namespace baton::ops

// cast, cast_like and reinterpret: the same elements in another type.
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

std::optional<StructureResult> ofType(const StructureContext& context, DType dtype) {
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  return oneResult(dtype, *rank);
}

}  // namespace

Result<std::optional<StructureResult>> castStructure(const OpCall& call, StructureContext& context) {
  const DType dtype = CastAttrs{*call.attrs}.dtype();
  BATON_TRY(context.provideResultDType(0, dtype));
  return ofType(context, dtype);
}

Result<std::optional<StructureResult>> castLikeStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 1));
  const std::optional<DType> dtype = context.dtype(1);
  if (!dtype) return std::nullopt;
  return ofType(context, *dtype);
}

Result<std::optional<StructureResult>> reinterpretStructure(const OpCall& call, StructureContext& context) {
  const DType dtype = ReinterpretAttrs{*call.attrs}.dtype();
  BATON_TRY(context.provideResultDType(0, dtype));
  const std::optional<DType> from = context.dtype(0);
  if (!from) return std::nullopt;
  if (dtype == DType::Bool || sizeBytes(dtype) != sizeBytes(*from))
    return opError(
        call, fmt::format("elements of type {} cannot be read as {}", dtypeName(*from), dtypeName(dtype)));
  return ofType(context, dtype);
}

std::optional<std::vector<DimExpr>> castValues(const OpCall& call, DimsContext& context,
                                               const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  if (values == nullptr || !valueCount(result)) return std::nullopt;
  const DType from = context.dtype(0);
  const DType to = call.inputCount == 2 ? context.dtype(1) : CastAttrs{*call.attrs}.dtype();
  if (to == from) return *values;
  if (to == DType::Bool) {
    std::vector<DimExpr> out;
    for (const DimExpr& value : *values) {
      const Truth isSet = context.decide(value, Relation::Ne, DimExpr());
      if (isSet == Truth::Unknown) return std::nullopt;
      out.push_back(DimExpr::constant(isSet == Truth::True ? 1 : 0));
    }
    return out;
  }
  if (!isInteger(to)) return std::nullopt;
  for (const DimExpr& value : *values)
    if (!fitsDType(context, value, to)) return std::nullopt;
  return *values;
}

loop::Value castScalar(const ScalarContext& context, std::span<const loop::Value> inputs) {
  return loop::cast(inputs[0], context.resultType);
}
Result<uint64_t> castReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  return convertScalar(inputs[0], call.inputTypes[0], call.resultType);
}

Result<void> castLikeLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const TensorId result, context.cast(context.input(0), context.resultType()));
  context.become({result});
  return success();
}
Result<void> castLikeReference(ReferenceCall& call) {
  const int64_t count = elementCount(call.inputs[0].shape);
  for (int64_t i = 0; i < count; ++i)
    call.store(0, i, convertScalar(call.load(0, i), call.inputs[0].dtype, call.results[0].dtype));
  return success();
}

loop::Value reinterpretScalar(const ScalarContext& context, std::span<const loop::Value> inputs) {
  return loop::bitcast(inputs[0], context.resultType);
}
/// From one type to another of the same size: all NaNs are the canonical one.
Result<uint64_t> reinterpretReference(const ScalarReferenceCall& call, std::span<const uint64_t> inputs) {
  std::byte memory[8];
  const DType from = call.inputTypes[0];
  uint64_t bits = inputs[0];
  const bool isNan =
      isFloat(from) && std::isnan(scalarFromBits<double>(convertScalar(bits, from, DType::F64)));
  if (isNan) bits = convertScalar(scalarBits(std::numeric_limits<double>::quiet_NaN()), DType::F64, from);
  storeScalar(memory, from, bits);
  return loadScalar(memory, call.resultType);
}

}  // namespace baton::ops

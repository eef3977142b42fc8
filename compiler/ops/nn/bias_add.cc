// nn.bias_add: a vector added along an axis; nn.prelu shares its relations.
#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

Result<std::optional<StructureResult>> biasAddStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireRank(1, 1));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(normaliseAxis(call, "axis", BiasAddAttrs{*call.attrs}.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> biasAddDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  const DimExpr bias = context.dims(1)[0];
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", BiasAddAttrs{*call.attrs}.axis(),
                                                 static_cast<int>(result.extents.size())));
  DimExpr& extent = result.extents[static_cast<size_t>(axis)];
  context.blame(1);
  BATON_TRY_ASSIGN(
      extent, requireEqual(context, extent, bias,
                           fmt::format("{}: dimension {} of the data ({{0}}) does not match the {} ({{1}})",
                                       call.op->name, axis, inputName(call, 1))));
  return std::vector<TensorDims>{std::move(result)};
}

Result<loop::Value> biasAddElement(ElementContext& context, std::span<const loop::Value> index) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", BiasAddAttrs{*context.call().attrs}.axis(),
                                 static_cast<int>(index.size())));
  BATON_TRY_ASSIGN(const loop::Value data, context.read(0, index));
  BATON_TRY_ASSIGN(const loop::Value bias, context.read(1, {index[static_cast<size_t>(axis)]}));
  const loop::Value inputs[] = {data, bias};
  return addScalar({context.builder(), context.call(), context.wantedType()}, inputs);
}
Result<void> biasAddReference(ReferenceCall& call) {
  const DType type = call.results[0].dtype;
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", BiasAddAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.results[0].shape.size())));
  const DType types[] = {type, type};
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const uint64_t inputs[] = {call.load(0, index), call.load(1, index[static_cast<size_t>(axis)])};
    call.store(0, index, addReference({call.call, types, type}, inputs).value());
  });
  return success();
}

}  // namespace baton::ops

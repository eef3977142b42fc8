// concatenate and stack: the tensors of a tuple as one.
#include <fmt/format.h>

#include "compiler/ops/arrange/layout.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// One dtype and one rank for all elements of the tuple.
Result<void> requireAlike(const OpCall& call, StructureContext& context) {
  if (call.inputCount == 0) return opError(call, "the tuple has no elements");
  for (size_t i = 1; i < call.inputCount; ++i) {
    BATON_TRY(context.requireSameDType(0, i));
    BATON_TRY(context.requireSameRank(0, i));
  }
  return context.provideResultDTypeOf(0, 0);
}

Result<DimExpr> requireSameExtent(const OpCall& call, DimsContext& context, const DimExpr& first,
                                  const DimExpr& other, size_t dimension, size_t input) {
  context.blame(input);
  return requireEqual(
      context, first, other,
      fmt::format("{0}: dimension {1} of element 0 of the data ({{0}}) does not match dimension {1} of "
                  "element {2} ({{1}})",
                  call.op->name, dimension, input));
}

}  // namespace

Result<std::optional<StructureResult>> concatenateStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(requireAlike(call, context));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(normaliseAxis(call, "axis", ConcatenateAttrs{*call.attrs}.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> concatenateDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", ConcatenateAttrs{*call.attrs}.axis(),
                                                 static_cast<int>(result.extents.size())));
  for (size_t i = 1; i < call.inputCount; ++i) {
    const std::vector<DimExpr> part = copyDims(context, i);
    for (size_t d = 0; d < part.size(); ++d) {
      if (d == static_cast<size_t>(axis)) {
        result.extents[d] = result.extents[d] + part[d];
        continue;
      }
      BATON_TRY_ASSIGN(result.extents[d], requireSameExtent(call, context, result.extents[d], part[d], d, i));
    }
  }
  return std::vector<TensorDims>{std::move(result)};
}

std::optional<std::vector<DimExpr>> concatenateValues(const OpCall& call, DimsContext& context,
                                                      const TensorDims& result) {
  if (!valueCount(result)) return std::nullopt;
  std::vector<DimExpr> out;
  for (size_t i = 0; i < call.inputCount; ++i) {
    const std::vector<DimExpr>* part = context.values(i);
    if (part == nullptr) return std::nullopt;
    out.insert(out.end(), part->begin(), part->end());
  }
  return out;
}

Result<std::optional<StructureResult>> stackStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(requireAlike(call, context));
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(newAxis(call, StackAttrs{*call.attrs}.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, *rank + 1);
}

Result<std::vector<TensorDims>> stackDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  BATON_TRY_ASSIGN(const int axis,
                   newAxis(call, StackAttrs{*call.attrs}.axis(), static_cast<int>(result.extents.size())));
  for (size_t i = 1; i < call.inputCount; ++i) {
    const std::vector<DimExpr> part = copyDims(context, i);
    for (size_t d = 0; d < part.size(); ++d) {
      BATON_TRY_ASSIGN(result.extents[d], requireSameExtent(call, context, result.extents[d], part[d], d, i));
    }
  }
  result.extents.insert(result.extents.begin() + axis,
                        DimExpr::constant(static_cast<int64_t>(call.inputCount)));
  return std::vector<TensorDims>{std::move(result)};
}

std::optional<std::vector<DimExpr>> stackValues(const OpCall& call, DimsContext& context,
                                                const TensorDims& result) {
  return concatenateValues(call, context, result);
}

namespace {

using loop::Value;

}  // namespace

Result<void> concatenateNest(NestContext& context) {
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", ConcatenateAttrs{*context.call().attrs}.axis(),
                                 static_cast<int>(context.resultDims().size())));
  Emitter& emitter = context.emitter();
  DimExpr start;
  for (size_t input = 0; input < context.inputCount(); ++input) {
    const auto extents = context.inputDims(input);
    const Value offset = emitter.dim(start);
    BATON_TRY(forEachIndex(emitter, extents, {}, [&](std::span<const Value> index) -> Result<void> {
      BATON_TRY_ASSIGN(const Value value, context.read(input, index));
      std::vector<Value> at(index.begin(), index.end());
      at[static_cast<size_t>(axis)] = emitter.add(at[static_cast<size_t>(axis)], offset);
      return context.sink(at, value);
    }));
    start = start + extents[static_cast<size_t>(axis)];
  }
  return success();
}

Result<void> concatenateReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", ConcatenateAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.results[0].shape.size())));
  int64_t start = 0;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    forEachPosition(call.inputs[input].shape, [&](std::span<const int64_t> index) {
      std::vector<int64_t> at(index.begin(), index.end());
      at[static_cast<size_t>(axis)] += start;
      call.store(0, at, call.load(input, index));
    });
    start += call.extent(input, static_cast<size_t>(axis));
  }
  return success();
}

Result<void> stackNest(NestContext& context) {
  BATON_TRY_ASSIGN(const int axis, newAxis(context.call(), StackAttrs{*context.call().attrs}.axis(),
                                           static_cast<int>(context.resultDims().size()) - 1));
  Emitter& emitter = context.emitter();
  for (size_t input = 0; input < context.inputCount(); ++input) {
    BATON_TRY(forEachIndex(emitter, context.inputDims(input), {},
                           [&](std::span<const Value> index) -> Result<void> {
                             BATON_TRY_ASSIGN(const Value value, context.read(input, index));
                             std::vector<Value> at(index.begin(), index.end());
                             at.insert(at.begin() + axis, emitter.number(static_cast<int64_t>(input)));
                             return context.sink(at, value);
                           }));
  }
  return success();
}

Result<void> stackReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis, newAxis(call.call, StackAttrs{*call.call.attrs}.axis(),
                                           static_cast<int>(call.results[0].shape.size()) - 1));
  for (size_t input = 0; input < call.inputs.size(); ++input)
    forEachPosition(call.inputs[input].shape, [&](std::span<const int64_t> index) {
      std::vector<int64_t> at(index.begin(), index.end());
      at.insert(at.begin() + axis, static_cast<int64_t>(input));
      call.store(0, at, call.load(input, index));
    });
  return success();
}

}  // namespace baton::ops

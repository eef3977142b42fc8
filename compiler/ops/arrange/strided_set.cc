// strided_set: a tensor with a part of it replaced.
#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/arrange/slice.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// What is replaced along each axis.
Result<std::vector<SliceAxis>> replacedAxes(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY_ASSIGN(const std::vector<DimExpr> begin, shapeElements(call, context, {nullptr, 2, "begin"}));
  BATON_TRY_ASSIGN(const std::vector<DimExpr> end, shapeElements(call, context, {nullptr, 3, "end"}));
  std::vector<int64_t> strides;
  if (call.inputCount > 4) {
    BATON_TRY_ASSIGN(strides, givenStrides(call, context, 4));
  }
  if (std::max({begin.size(), end.size(), strides.size()}) > data.size())
    return opError(call, fmt::format("{} begins, {} ends and {} strides are given for {} axes", begin.size(),
                                     end.size(), strides.size(), data.size()));
  std::vector<SliceAxis> axes;
  for (size_t d = 0; d < data.size(); ++d) {
    const int64_t stride = d < strides.size() ? strides[d] : 1;
    BATON_TRY(checkStride(call, d, stride));
    axes.push_back(sliceOf(context, data[d], d < begin.size() ? &begin[d] : nullptr,
                           d < end.size() ? &end[d] : nullptr, stride));
  }
  return axes;
}

}  // namespace

Result<std::optional<StructureResult>> stridedSetStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.requireSameRank(0, 1));
  for (size_t i = 2; i < call.inputCount; ++i) BATON_TRY(context.requireRank(i, 1));
  return unaryStructure(call, context);
}
Result<std::vector<TensorDims>> stridedSetDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const std::vector<SliceAxis> axes, replacedAxes(call, context));
  context.blame(1);
  for (size_t d = 0; d < axes.size(); ++d) {
    const DimExpr given = context.dims(1)[d];
    BATON_TRY(context.require(
        given, Relation::Eq, axes[d].extent,
        fmt::format("strided_set: dimension {} of the values is {{0}}; {{1}} elements are replaced", d)));
  }
  return std::vector<TensorDims>{{copyDims(context, 0)}};
}

Result<void> stridedSetNest(NestContext& context) {
  BATON_TRY_ASSIGN(const std::vector<SliceAxis> axes, replacedAxes(context.call(), context.relations()));
  Emitter& emitter = context.emitter();
  BATON_TRY(forEachIndex(emitter, context.resultDims(), {},
                         [&](std::span<const loop::Value> index) -> Result<void> {
                           BATON_TRY_ASSIGN(const loop::Value element, context.read(0, index));
                           return context.sink(index, element);
                         }));
  // What is handed on last stays.
  return forEachIndex(
      emitter, context.inputDims(1), {}, [&](std::span<const loop::Value> index) -> Result<void> {
        BATON_TRY_ASSIGN(const loop::Value element, context.read(1, index));
        std::vector<loop::Value> at;
        for (size_t d = 0; d < axes.size(); ++d)
          at.push_back(
              emitter.add(emitter.dim(axes[d].begin), emitter.mul(index[d], emitter.number(axes[d].stride))));
        return context.sink(at, element);
      });
}
Result<void> stridedSetReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const std::vector<SliceAxis> axes, replacedAxes(call.call, call.relations));
  for (int64_t i = 0; i < elementCount(call.results[0].shape); ++i) call.store(0, i, call.load(0, i));
  forEachPosition(call.inputs[1].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at;
    for (size_t d = 0; d < axes.size(); ++d)
      at.push_back(axes[d].begin.asConstant().value() + index[d] * axes[d].stride);
    call.store(0, at, call.load(1, index));
  });
  return success();
}

}  // namespace baton::ops

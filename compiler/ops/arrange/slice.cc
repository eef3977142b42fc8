// strided_slice and split: parts of a tensor.
#include "compiler/ops/arrange/slice.h"

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

/// A position that counts from the end when it is negative, and stays within [low, high].
/// Works for every int64: nothing overflows.
DimExpr clampPosition(DimsContext& context, const DimExpr& position, const DimExpr& extent,
                      const DimExpr& low, const DimExpr& high) {
  if (position.asConstant() == INT64_MAX) return high;
  if (position.asConstant() == INT64_MIN) return low;
  DimExpr absolute;
  if (context.decide(position, Relation::Ge, DimExpr()) == Truth::True)
    absolute = position;
  else if (context.decide(position, Relation::Lt, DimExpr()) == Truth::True)
    absolute = position + extent;
  else  // max(min(p, 0), -1) is -1 for the negative ones
    absolute = position - extent * max(min(position, DimExpr()), DimExpr::constant(-1));
  if (context.decide(absolute, Relation::Le, low) == Truth::True) return low;
  if (context.decide(absolute, Relation::Ge, high) == Truth::True) return high;
  if (context.decide(absolute, Relation::Ge, low) != Truth::True) absolute = max(absolute, low);
  if (context.decide(absolute, Relation::Le, high) != Truth::True) absolute = min(absolute, high);
  return absolute;
}

DimExpr atLeastZero(DimsContext& context, const DimExpr& expr) {
  return context.decide(expr, Relation::Ge, DimExpr()) == Truth::True ? expr : max(expr, DimExpr());
}

}  // namespace

SliceAxis sliceOf(DimsContext& context, const DimExpr& extent, const DimExpr* begin, const DimExpr* end,
                  int64_t stride) {
  SliceAxis slice;
  slice.stride = stride;
  const bool isForward = stride > 0;
  const DimExpr low = isForward ? DimExpr() : DimExpr::constant(-1);
  const DimExpr high = isForward ? extent : extent - one();
  slice.begin = begin != nullptr ? clampPosition(context, *begin, extent, low, high) : isForward ? low : high;
  const DimExpr last = end != nullptr ? clampPosition(context, *end, extent, low, high)
                       : isForward    ? high
                                      : low;
  const DimExpr length = isForward ? last - slice.begin : slice.begin - last;
  const DimExpr step = DimExpr::constant(isForward ? stride : -stride);
  slice.extent = atLeastZero(context, stride == 1 || stride == -1 ? length : ceilDiv(length, step));
  return slice;
}

Result<std::vector<int64_t>> givenStrides(const OpCall& call, DimsContext& context, size_t input) {
  const std::vector<DimExpr>* strides = context.values(input);
  std::optional<std::vector<int64_t>> numbers = strides ? asConstants(*strides) : std::nullopt;
  if (numbers) return *std::move(numbers);
  context.blame(input);
  return Error(ErrorCode::Unsupported,
               fmt::format("{}: the strides are not known when compiling", call.op->name));
}

Result<void> checkStride(const OpCall& call, size_t axis, int64_t stride) {
  if (stride == 0 || stride == INT64_MIN)
    return opError(call, fmt::format("the stride along axis {} is {}", axis, stride));
  return success();
}

namespace {

/// The three lists, from attributes or inputs.
struct SliceLists {
  std::vector<DimExpr> begin;
  std::vector<DimExpr> end;
  bool hasEnd = false;
  std::vector<int64_t> strides;
};

Result<SliceLists> sliceLists(const OpCall& call, DimsContext& context) {
  const StridedSliceAttrs attrs{*call.attrs};
  SliceLists lists;
  const std::vector<DimExpr> empty;
  BATON_TRY_ASSIGN(lists.begin, shapeElements(call, context,
                                              {call.inputCount > 1        ? nullptr
                                               : attrs.begin() != nullptr ? attrs.begin()
                                                                          : &empty,
                                               1, "begin"}));
  lists.hasEnd = call.inputCount > 2 || attrs.end() != nullptr;
  if (lists.hasEnd) {
    BATON_TRY_ASSIGN(lists.end,
                     shapeElements(call, context, {call.inputCount > 2 ? nullptr : attrs.end(), 2, "end"}));
  }
  if (call.inputCount > 3) {
    BATON_TRY_ASSIGN(lists.strides, givenStrides(call, context, 3));
  } else {
    lists.strides = attrs.strides();
  }
  return lists;
}

}  // namespace

Result<std::vector<SliceAxis>> sliceAxes(const OpCall& call, DimsContext& context) {
  const StridedSliceAttrs attrs{*call.attrs};
  const std::vector<DimExpr> data = copyDims(context, 0);
  const int rank = static_cast<int>(data.size());
  BATON_TRY_ASSIGN(const SliceLists lists, sliceLists(call, context));
  const bool isSize = attrs.sliceMode() == "size";
  const std::vector<int64_t>* listed = attrs.axes();
  const size_t count = listed != nullptr ? listed->size() : data.size();
  if (lists.begin.size() > count || lists.end.size() > count ||
      (lists.strides.size() > count && !isSize && lists.strides.size() > 1))
    return opError(call, fmt::format("{} begins, {} ends and {} strides are given for {} axes",
                                     lists.begin.size(), lists.end.size(), lists.strides.size(), count));
  std::vector<SliceAxis> slices;
  for (const DimExpr& extent : data) slices.push_back({DimExpr(), 1, extent});
  std::vector<bool> isSliced(data.size(), false);
  for (size_t i = 0; i < count; ++i) {
    int axis = static_cast<int>(i);
    if (listed != nullptr) {
      BATON_TRY_ASSIGN(axis, normaliseAxis(call, "axis", (*listed)[i], rank));
    }
    const auto at = static_cast<size_t>(axis);
    if (isSliced[at]) return opError(call, fmt::format("axis {} is listed twice", axis));
    isSliced[at] = true;
    const DimExpr* begin = i < lists.begin.size() ? &lists.begin[i] : nullptr;
    const DimExpr* end = i < lists.end.size() ? &lists.end[i] : nullptr;
    const int64_t stride = isSize || i >= lists.strides.size() ? 1 : lists.strides[i];
    BATON_TRY(checkStride(call, at, stride));
    if (!isSize) {
      slices[at] = sliceOf(context, data[at], begin, end, stride);
      continue;
    }
    slices[at] = sliceOf(context, data[at], begin, nullptr, 1);
    if (end == nullptr) continue;
    // A size of -1 is whatever is left; others must not be negative, and end at the extent.
    const DimExpr rest = slices[at].extent;
    if (context.decide(*end, Relation::Lt, DimExpr()) == Truth::True) continue;
    if (context.decide(*end, Relation::Le, rest) == Truth::True)
      slices[at].extent = *end;
    else if (context.decide(*end, Relation::Ge, DimExpr()) == Truth::True)
      slices[at].extent = min(*end, rest);
    else  // -1 as an unsigned number is beyond everything
      slices[at].extent =
          min(max(*end, DimExpr()) - rest * max(min(*end, DimExpr()), DimExpr::constant(-1)), rest);
  }
  return slices;
}

Result<std::optional<StructureResult>> stridedSliceStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::string& mode = StridedSliceAttrs{*call.attrs}.sliceMode();
  if (mode != "end" && mode != "size")
    return opError(call, fmt::format("slice_mode is \"{}\"; expected \"end\" or \"size\"", mode));
  for (size_t i = 1; i < call.inputCount; ++i) BATON_TRY(context.requireRank(i, 1));
  const std::optional<int> rank = context.rank(0);
  const std::optional<DType> dtype = context.dtype(0);
  if (!rank || !dtype) return std::nullopt;
  return oneResult(*dtype, *rank);
}

Result<std::vector<TensorDims>> stridedSliceDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(std::vector<SliceAxis> slices, sliceAxes(call, context));
  TensorDims result;
  for (SliceAxis& slice : slices) result.extents.push_back(std::move(slice.extent));
  return std::vector<TensorDims>{std::move(result)};
}

std::optional<std::vector<DimExpr>> stridedSliceValues(const OpCall& call, DimsContext& context,
                                                       const TensorDims& result) {
  const std::vector<DimExpr>* values = context.values(0);
  const std::optional<size_t> count = valueCount(result);
  if (values == nullptr || !count) return std::nullopt;
  if (result.extents.empty()) return *values;
  const Result<std::vector<SliceAxis>> slices = sliceAxes(call, context);
  if (!slices) return std::nullopt;
  const SliceAxis& slice = slices.assume_value()[0];
  const std::optional<int64_t> begin = slice.begin.asConstant();
  if (!begin) return std::nullopt;
  std::vector<DimExpr> out;
  for (size_t i = 0; i < *count; ++i)
    out.push_back(values->at(static_cast<size_t>(*begin + static_cast<int64_t>(i) * slice.stride)));
  return out;
}

Result<std::optional<StructureResult>> splitStructure(const OpCall& call, StructureContext& context) {
  const SplitAttrs attrs{*call.attrs};
  const auto* sections = std::get_if<int64_t>(&attrs.indicesOrSections());
  if (sections != nullptr && (*sections < 1 || *sections > 65536))
    return opError(call, fmt::format("{} sections; expected 1 to 65536", *sections));
  const size_t count = sections != nullptr
                           ? static_cast<size_t>(*sections)
                           : std::get<std::vector<int64_t>>(attrs.indicesOrSections()).size() + 1;
  const std::optional<int> rank = context.rank(0);
  if (!rank) return std::nullopt;
  BATON_TRY(normaliseAxis(call, "axis", attrs.axis(), *rank));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return StructureResult{std::vector<TensorStructure>(count, TensorStructure{*dtype, *rank}), true};
}

Result<std::vector<SplitPart>> splitParts(const OpCall& call, DimsContext& context) {
  const SplitAttrs attrs{*call.attrs};
  const auto data = context.dims(0);
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", attrs.axis(), static_cast<int>(data.size())));
  const DimExpr extent = data[static_cast<size_t>(axis)];
  std::vector<SplitPart> parts;
  if (const auto* sections = std::get_if<int64_t>(&attrs.indicesOrSections())) {
    const DimExpr count = DimExpr::constant(*sections);
    BATON_TRY(context.require(
        floorMod(extent, count), Relation::Eq, DimExpr(),
        fmt::format("split: {} sections do not divide dimension {} ({{0}})", *sections, axis), {extent}));
    const DimExpr size = floorDiv(extent, count);
    for (int64_t i = 0; i < *sections; ++i) parts.push_back({DimExpr::constant(i) * size, size});
    return parts;
  }
  DimExpr begin;
  for (const int64_t position : std::get<std::vector<int64_t>>(attrs.indicesOrSections())) {
    const DimExpr next = DimExpr::constant(position);
    if (position < begin.asConstant().value_or(0))
      return opError(
          call, fmt::format("position {} follows {}; expected positions that are not negative and do not "
                            "decrease",
                            position, begin.asConstant().value_or(0)));
    parts.push_back({begin, next - begin});
    begin = next;
  }
  BATON_TRY(context.require(begin, Relation::Le, extent,
                            fmt::format("split: position {{0}} is beyond dimension {} ({{1}})", axis)));
  parts.push_back({begin, extent - begin});
  return parts;
}

Result<std::vector<TensorDims>> splitDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const std::vector<SplitPart> parts, splitParts(call, context));
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call, "axis", SplitAttrs{*call.attrs}.axis(),
                                                 static_cast<int>(data.size())));
  std::vector<TensorDims> results;
  for (const SplitPart& part : parts) {
    results.push_back({data});
    results.back().extents[static_cast<size_t>(axis)] = part.extent;
  }
  return results;
}

namespace {

using loop::Value;

}  // namespace

Result<Value> stridedSliceElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const std::vector<SliceAxis> slices, sliceAxes(context.call(), context.relations()));
  Emitter& emitter = context.emitter();
  std::vector<Value> at;
  for (size_t axis = 0; axis < slices.size(); ++axis)
    at.push_back(emitter.add(emitter.dim(slices[axis].begin),
                             emitter.mul(index[axis], emitter.number(slices[axis].stride))));
  return context.read(0, at);
}
/// Begins and ends as in the specification: negative ones count from the end, then clamped.
Result<void> stridedSliceReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const std::vector<SliceAxis> slices, sliceAxes(call.call, call.relations));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at;
    for (size_t axis = 0; axis < slices.size(); ++axis)
      at.push_back(slices[axis].begin.asConstant().value() + index[axis] * slices[axis].stride);
    call.store(0, index, call.load(0, at));
  });
  return success();
}

Result<Value> splitElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const std::vector<SplitPart> parts, splitParts(context.call(), context.relations()));
  BATON_TRY_ASSIGN(const int axis,
                   normaliseAxis(context.call(), "axis", SplitAttrs{*context.call().attrs}.axis(),
                                 static_cast<int>(index.size())));
  Emitter& emitter = context.emitter();
  std::vector<Value> at(index.begin(), index.end());
  Value& position = at[static_cast<size_t>(axis)];
  position = emitter.add(position, emitter.dim(parts[context.result()].begin));
  return context.read(0, at);
}
Result<void> splitReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const int axis, normaliseAxis(call.call, "axis", SplitAttrs{*call.call.attrs}.axis(),
                                                 static_cast<int>(call.inputs[0].shape.size())));
  int64_t start = 0;
  for (size_t part = 0; part < call.results.size(); ++part) {
    forEachPosition(call.results[part].shape, [&](std::span<const int64_t> index) {
      std::vector<int64_t> at(index.begin(), index.end());
      at[static_cast<size_t>(axis)] += start;
      call.store(part, index, call.load(0, at));
    });
    start += call.results[part].shape[static_cast<size_t>(axis)];
  }
  return success();
}

}  // namespace baton::ops

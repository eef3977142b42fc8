// image.crop_and_resize, image.affine_grid and image.grid_sample: elements where boxes and grids say.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/arrange/position.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/image/plain_taps.h"
#include "compiler/ops/image/spatial_axes.h"
#include "compiler/ops/image/taps.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

constexpr double kGridAlpha = -0.75;

/// Height and width from an attribute.
Result<void> checkPlaneSize(const OpCall& call, std::string_view attribute,
                            const std::vector<DimExpr>* size) {
  if (size != nullptr && size->size() == 2) return success();
  return opError(
      call, fmt::format("{} has {} elements; expected 2", attribute, size == nullptr ? 0 : size->size()));
}
Result<std::vector<DimExpr>> planeSize(const OpCall& call, DimsContext& context, std::string_view attribute,
                                       const std::vector<DimExpr>& size) {
  for (size_t i = 0; i < size.size(); ++i)
    BATON_TRY(context.require(
        size[i], Relation::Ge, DimExpr(),
        fmt::format("{}: element {} of {} is negative ({{0}})", call.op->name, i, attribute)));
  return size;
}

Result<void> requireExtent(const OpCall& call, DimsContext& context, size_t input, size_t axis,
                           int64_t extent) {
  context.blame(input);
  return context.require(context.dims(input)[axis], Relation::Eq, DimExpr::constant(extent),
                         fmt::format("{}: dimension {} of the {} is {{0}}; expected {{1}}", call.op->name,
                                     axis, call.op->inputs[input].name));
}

}  // namespace

Result<std::optional<StructureResult>> cropAndResizeStructure(const OpCall& call, StructureContext& context) {
  const CropAndResizeAttrs attrs{*call.attrs};
  BATON_TRY_ASSIGN(const LayoutAxes axes, layoutAxes(call, "NHW"));
  BATON_TRY(checkPlaneSize(call, "crop_size", attrs.cropSize()));
  if (attrs.method() != "bilinear" && attrs.method() != "nearest_neighbor")
    return unknownValue(call, "method", "\"bilinear\" or \"nearest_neighbor\"");
  BATON_TRY(context.requireRank(0, axes.rank));
  BATON_TRY(context.requireRank(1, 2));
  BATON_TRY(context.requireRank(2, 1));
  BATON_TRY_ASSIGN(const std::optional<DType> dtype, givenOrInputDType(context, attrs.outDtype()));
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, axes.rank);
}
Result<std::vector<TensorDims>> cropAndResizeDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const LayoutAxes axes, layoutAxes(call, "NHW"));
  BATON_TRY_ASSIGN(const std::vector<DimExpr> size,
                   planeSize(call, context, "crop_size", *CropAndResizeAttrs{*call.attrs}.cropSize()));
  BATON_TRY(requireExtent(call, context, 1, 1, 4));
  const DimExpr boxes = context.dims(1)[0];
  context.blame(2);
  BATON_TRY_ASSIGN(const DimExpr count,
                   requireEqual(context, boxes, context.dims(2)[0],
                                "image.crop_and_resize: there are {0} boxes and {1} box indices"));
  TensorDims result{copyDims(context, 0)};
  const DimExpr wanted[] = {count, size[0], size[1]};
  const DimExpr any = product(wanted);
  for (size_t i = 0; i < 3; ++i) {
    BATON_TRY(requireElements(call, context, 0, axes.axes[i], any));
    result.extents[axes.axes[i]] = wanted[i];
  }
  return std::vector<TensorDims>{std::move(result)};
}

using loop::Value;

Result<Value> cropAndResizeElement(ElementContext& context, std::span<const Value> index) {
  const OpCall& call = context.call();
  const CropAndResizeAttrs attrs{*call.attrs};
  BATON_TRY_ASSIGN(const LayoutAxes found, layoutAxes(call, "NHW"));
  Emitter& emitter = context.emitter();
  const bool isNearest = attrs.method() == "nearest_neighbor";
  const DType data = context.inputType(0);
  const DType type = isNearest ? data : blendType(data);
  const size_t batch = found.axes[0];
  const std::span<const size_t> axes = std::span(found.axes).subspan(1);
  const Value box = index[batch];
  std::vector<Taps> taps;
  std::optional<Value> outside;
  for (size_t i = 0; i < 2; ++i) {
    const auto corner = [&](int64_t at) -> Result<Value> {
      BATON_TRY_ASSIGN(const Value given, context.read(1, {box, emitter.number(at)}));
      return loop::cast(given, DType::F32);
    };
    const auto at = static_cast<int64_t>(i);
    BATON_TRY_ASSIGN(const Value start, corner(at));
    BATON_TRY_ASSIGN(const Value end, corner(at + 2));
    const ResizedAxis resized{index[axes[i]], emitter.dim(context.inputDims(0)[axes[i]]),
                              emitter.dim(context.wantedDims()[axes[i]])};
    const Value place = resizedPlace(emitter, "tf_crop_and_resize", resized, start, end);
    const Value here = isOutside(place, resized.in);
    outside = outside ? *outside | here : here;
    if (isNearest)
      taps.push_back({{clampedPosition(emitter, wholePart(roundedPlace(place, "round")), resized.in)}});
    else
      taps.push_back(linearTaps(emitter, place, resized.in, type));
  }
  BATON_TRY_ASSIGN(const Value chosen, context.read(2, {box}));
  std::vector<Value> at(index.begin(), index.end());
  at[batch] = position(context, chosen, emitter.dim(context.inputDims(0)[batch]), "fast");
  BATON_TRY_ASSIGN(const Value value, interpolated(context, std::move(at), axes, taps, type));
  return loop::select(*outside, context.builder().constant(context.wantedType(), attrs.extrapolationValue()),
                      loop::cast(value, context.wantedType()));
}

Result<void> cropAndResizeReference(ReferenceCall& call) {
  const CropAndResizeAttrs attrs{*call.call.attrs};
  BATON_TRY_ASSIGN(const LayoutAxes found, layoutAxes(call.call, "NHW"));
  const size_t batch = found.axes[0];
  const std::span<const size_t> axes = std::span(found.axes).subspan(1);
  const DType data = call.inputs[0].dtype;
  const DType to = call.results[0].dtype;
  const bool isNearest = attrs.method() == "nearest_neighbor";
  bool isWrong = false;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t box = index[batch];
    std::vector<int64_t> at(index.begin(), index.end());
    const auto chosen = plainPosition(call.load(2, box), call.inputs[2].dtype, call.extent(0, batch), "fast");
    isWrong = isWrong || !chosen;
    at[batch] = chosen.value_or(0);
    std::vector<PlainTaps> taps;
    bool isExtrapolated = false;
    for (size_t i = 0; i < 2; ++i) {
      const auto corner = [&](int64_t c) {
        return scalarFromBits<float>(
            convertScalar(call.load(1, std::array{box, c}), call.inputs[1].dtype, DType::F32));
      };
      const auto side = static_cast<int64_t>(i);
      const int64_t in = call.extent(0, axes[i]);
      const float place =
          plainPlace("tf_crop_and_resize", {index[axes[i]], in, call.results[0].shape[axes[i]]}, corner(side),
                     corner(side + 2));
      isExtrapolated = isExtrapolated || place < 0 || place > static_cast<float>(in) - 1;
      at[axes[i]] = plainClamped(plainWhole(plainRounded(place, "round")), in);
      taps.push_back(plainLinear(place, in));
    }
    call.store(0, index,
               isExtrapolated ? convertScalar(scalarBits(attrs.extrapolationValue()), DType::F64, to)
               : isNearest    ? convertScalar(call.load(0, at), data, to)
                              : plainInterpolated(call, at, axes, taps));
  });
  if (isWrong) return programError(call.call, "an index is out of range");
  return success();
}

Result<std::optional<StructureResult>> affineGridStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(checkPlaneSize(call, "target_shape", AffineGridAttrs{*call.attrs}.targetShape()));
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 4);
}
Result<std::vector<TensorDims>> affineGridDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const std::vector<DimExpr> size,
                   planeSize(call, context, "target_shape", *AffineGridAttrs{*call.attrs}.targetShape()));
  BATON_TRY(requireExtent(call, context, 0, 1, 2));
  BATON_TRY(requireExtent(call, context, 0, 2, 3));
  return std::vector<TensorDims>{{{context.dims(0)[0], DimExpr::constant(2), size[0], size[1]}}};
}
Result<Value> affineGridElement(ElementContext& context, std::span<const Value> index) {
  Emitter& emitter = context.emitter();
  const DType type = blendType(context.inputType(0));
  // From -1 to 1.
  const auto along = [&](size_t axis) {
    const Value last = emitter.sub(emitter.dim(context.wantedDims()[axis]), emitter.number(1));
    const Value place = emitter.sub(emitter.mul(emitter.number(2), index[axis]), last);
    return loop::cast(place, type) / loop::cast(emitter.max(last, emitter.number(1)), type);
  };
  std::vector<Value> row;
  for (int64_t i = 0; i < 3; ++i) {
    BATON_TRY_ASSIGN(const Value element, context.read(0, {index[0], index[1], emitter.number(i)}));
    row.push_back(loop::cast(element, type));
  }
  return loop::cast(row[0] * along(3) + row[1] * along(2) + row[2], context.wantedType());
}

namespace {

template <class T>
void plainAffineGrid(ReferenceCall& call, DType type) {
  const auto shape = std::span<const int64_t>(call.results[0].shape);
  forEachPosition(shape, [&](std::span<const int64_t> index) {
    const auto along = [&](size_t axis) {
      const int64_t last = shape[axis] - 1;
      return static_cast<T>(2 * index[axis] - last) / static_cast<T>(std::max<int64_t>(last, 1));
    };
    const auto element = [&](int64_t i) {
      return scalarFromBits<T>(
          convertScalar(call.load(0, std::array{index[0], index[1], i}), call.inputs[0].dtype, type));
    };
    const T value = element(0) * along(3) + element(1) * along(2) + element(2);
    call.store(0, index, convertScalar(scalarBits(value), type, call.results[0].dtype));
  });
}

}  // namespace

Result<void> affineGridReference(ReferenceCall& call) {
  const DType type = blendType(call.inputs[0].dtype);
  if (type == DType::F64)
    plainAffineGrid<double>(call, type);
  else
    plainAffineGrid<float>(call, type);
  return success();
}

Result<std::optional<StructureResult>> gridSampleStructure(const OpCall& call, StructureContext& context) {
  const GridSampleAttrs attrs{*call.attrs};
  if (attrs.layout() != "NCHW" && attrs.layout() != "NCDHW")
    return unknownValue(call, "layout", "\"NCHW\" or \"NCDHW\"");
  const bool isPlane = attrs.layout() == "NCHW";
  if (attrs.method() != "bilinear" && attrs.method() != "nearest" &&
      !(isPlane && attrs.method() == "bicubic"))
    return unknownValue(call, "method",
                        isPlane ? "\"bilinear\", \"nearest\" or \"bicubic\"" : "\"bilinear\" or \"nearest\"");
  if (attrs.paddingMode() != "zeros" && attrs.paddingMode() != "border" &&
      attrs.paddingMode() != "reflection")
    return unknownValue(call, "padding_mode", "\"zeros\", \"border\" or \"reflection\"");
  const int rank = isPlane ? 4 : 5;
  BATON_TRY(context.requireRank(0, rank));
  BATON_TRY(context.requireRank(1, rank));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, rank);
}
Result<std::vector<TensorDims>> gridSampleDims(const OpCall& call, DimsContext& context) {
  TensorDims result{copyDims(context, 0)};
  const std::vector<DimExpr> grid = copyDims(context, 1);
  const size_t count = grid.size() - 2;
  BATON_TRY(requireExtent(call, context, 1, 1, static_cast<int64_t>(count)));
  context.blame(1);
  BATON_TRY_ASSIGN(result.extents[0],
                   requireEqual(context, result.extents[0], grid[0],
                                "image.grid_sample: the data has {0} batches and the grid {1}"));
  const DimExpr any = product(std::span(grid).subspan(2));
  for (size_t axis = 2; axis < grid.size(); ++axis) {
    BATON_TRY(requireElements(call, context, 0, axis, any));
    result.extents[axis] = grid[axis];
  }
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

/// Mirrored at the ends of the data until it is between them.
Value reflected(Value place, Value extent, bool alignCorners) {
  const auto c = [&](double value) { return place.builder().constant(place.type(), value); };
  const Value count = loop::cast(extent, place.type());
  const Value low = c(alignCorners ? 0 : -0.5);
  const Value span = alignCorners ? count - c(1) : count;
  const Value from = loop::abs(low - place);
  const Value times = loop::floor(from / span);
  const Value rest = from - times * span;
  const Value isEven = loop::equal(times - c(2) * loop::floor(times / c(2)), c(0));
  const Value inside = loop::select(isEven, rest + low, span - rest + low);
  const Value isThere = (place >= low) & (place <= span + low);
  return loop::select(isThere, place, loop::select(loop::equal(span, c(0)), low, inside));
}
Value clipped(Value place, Value extent) {
  const auto c = [&](double value) { return place.builder().constant(place.type(), value); };
  return loop::min(loop::max(place, c(0)), loop::cast(extent, place.type()) - c(1));
}

/// Elements around a place of a grid, along an axis.
Taps gridTaps(Emitter& emitter, const GridSampleAttrs& attrs, Value given, Value extent, DType type) {
  const auto c = [&](double value) { return given.builder().constant(given.type(), value); };
  const Value count = loop::cast(extent, given.type());
  Value place =
      attrs.alignCorners() ? (given + c(1)) * (count - c(1)) / c(2) : ((given + c(1)) * count - c(1)) / c(2);
  const std::string& mode = attrs.paddingMode();
  const auto padded = [&](Value at) {
    if (mode == "zeros") return at;
    return clipped(mode == "border" ? at : reflected(at, extent, attrs.alignCorners()), extent);
  };
  const auto tap = [&](Value wanted, std::optional<Value> weight) -> Tap {
    const Value at = clampedPosition(emitter, wanted, extent);
    return {at, weight ? std::optional(loop::cast(*weight, type)) : std::nullopt, loop::equal(wanted, at)};
  };
  if (attrs.method() == "nearest") return {tap(wholePart(loop::round(padded(place))), std::nullopt)};
  if (attrs.method() == "bilinear") {
    place = padded(place);
    const Value floored = loop::floor(place);
    const Value t = place - floored;
    const Value whole = wholePart(floored);
    return {tap(whole, c(1) - t), tap(emitter.add(whole, emitter.number(1)), t)};
  }
  const Value floored = loop::floor(place);
  const std::vector<Value> weights = cubicWeights(place - floored, kGridAlpha);
  Taps taps;
  for (size_t i = 0; i < 4; ++i) {
    const Value at = padded(floored + c(static_cast<double>(i) - 1));
    taps.push_back(tap(wholePart(loop::floor(at)), weights[i]));
  }
  return taps;
}

}  // namespace

Result<Value> gridSampleElement(ElementContext& context, std::span<const Value> index) {
  const GridSampleAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  const DType data = context.inputType(0);
  const DType type = attrs.method() == "nearest" ? data : blendType(data);
  std::vector<size_t> axes;
  std::vector<Taps> taps;
  for (size_t axis = 2; axis < index.size(); ++axis) {
    // x is the first of the places, and the last of the axes.
    std::vector<Value> where(index.begin(), index.end());
    where[1] = emitter.number(static_cast<int64_t>(index.size() - 1 - axis));
    BATON_TRY_ASSIGN(const Value given, context.read(1, where));
    axes.push_back(axis);
    const Value extent = emitter.dim(context.inputDims(0)[axis]);
    const Value place = loop::cast(given, blendType(given.type()));
    taps.push_back(gridTaps(emitter, attrs, place, extent, type));
  }
  BATON_TRY_ASSIGN(const Value value, interpolated(context, {index.begin(), index.end()}, axes, taps, type));
  return loop::cast(value, context.wantedType());
}

namespace {

template <class C>
C plainReflected(C place, int64_t extent, bool alignCorners) {
  const C low = alignCorners ? C{0} : C{-0.5};
  const C span = static_cast<C>(extent) - (alignCorners ? C{1} : C{0});
  if (place >= low && place <= span + low) return place;
  if (span == 0) return low;
  const C from = std::abs(low - place);
  const C times = std::floor(from / span);
  const C rest = from - times * span;
  const bool isEven = times - C{2} * std::floor(times / C{2}) == 0;
  return isEven ? rest + low : span - rest + low;
}

template <class C>
PlainTaps plainGridTaps(const GridSampleAttrs& attrs, C given, int64_t extent) {
  const C count = static_cast<C>(extent);
  C place =
      attrs.alignCorners() ? (given + C{1}) * (count - C{1}) / C{2} : ((given + C{1}) * count - C{1}) / C{2};
  const std::string& mode = attrs.paddingMode();
  const auto padded = [&](C at) {
    if (mode == "zeros" || std::isnan(at)) return at;
    if (mode == "reflection") at = plainReflected(at, extent, attrs.alignCorners());
    return std::isnan(at) ? at : std::clamp(at, C{0}, count - C{1});
  };
  const auto tap = [&](int64_t wanted, double weight) -> PlainTap {
    return {plainClamped(wanted, extent), weight, wanted >= 0 && wanted < extent};
  };
  if (attrs.method() == "nearest") return {tap(plainWhole(std::nearbyint(padded(place))), 1)};
  if (attrs.method() == "bilinear") {
    place = padded(place);
    const C floored = std::floor(place);
    const C t = place - floored;
    const int64_t whole = plainWhole(floored);
    return {tap(whole, C{1} - t), tap(whole + 1, t)};
  }
  const C floored = std::floor(place);
  const std::vector<C> weights = plainCubicWeights<C>(place - floored, kGridAlpha);
  PlainTaps taps;
  for (int i = 0; i < 4; ++i) {
    const C at = padded(floored + static_cast<C>(i - 1));
    taps.push_back(tap(plainWhole(std::floor(at)), weights[static_cast<size_t>(i)]));
  }
  return taps;
}

template <class C>
void plainGridSample(ReferenceCall& call) {
  const GridSampleAttrs attrs{*call.call.attrs};
  const DType grid = call.inputs[1].dtype;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<size_t> axes;
    std::vector<PlainTaps> taps;
    std::vector<int64_t> at(index.begin(), index.end());
    bool isThere = true;
    for (size_t axis = 2; axis < index.size(); ++axis) {
      std::vector<int64_t> where(index.begin(), index.end());
      where[1] = static_cast<int64_t>(index.size() - 1 - axis);
      const C given = scalarFromBits<C>(convertScalar(call.load(1, where), grid, blendType(grid)));
      axes.push_back(axis);
      taps.push_back(plainGridTaps<C>(attrs, given, call.extent(0, axis)));
      at[axis] = taps.back()[0].position;
      isThere = isThere && taps.back()[0].isInside;
    }
    const bool isNearest = attrs.method() == "nearest";
    call.store(0, index,
               !isNearest ? plainInterpolated(call, at, axes, taps)
               : isThere  ? call.load(0, at)
                          : 0);
  });
}

}  // namespace

Result<void> gridSampleReference(ReferenceCall& call) {
  if (call.inputs[1].dtype == DType::F64)
    plainGridSample<double>(call);
  else
    plainGridSample<float>(call);
  return success();
}

}  // namespace baton::ops

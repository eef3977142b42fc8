// image.resize1d, image.resize2d and image.resize3d.
#include "compiler/ops/image/resize.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/image/plain_taps.h"
#include "compiler/ops/image/spatial_axes.h"
#include "compiler/ops/image/taps.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

std::string_view resizedLetters(const OpCall& call) {
  if (call.op->name == "image.resize1d") return "W";
  return call.op->name == "image.resize2d" ? "HW" : "DHW";
}

ShapeSource wantedSize(const OpCall& call) { return {ResizeAttrs{*call.attrs}.size(), 1, "size"}; }

/// Which input holds the roi: the last one, where there is one for it.
std::optional<size_t> roiInput(const OpCall& call) {
  const size_t at = wantedSize(call).attribute != nullptr ? 1 : 2;
  return call.inputCount > at ? std::optional(at) : std::nullopt;
}

Result<ResizeSettings> resizeSettings(const OpCall& call) {
  const ResizeAttrs attrs{*call.attrs};
  BATON_TRY_ASSIGN(LayoutAxes axes, layoutAxes(call, resizedLetters(call)));
  ResizeSettings settings{std::move(axes.axes),      attrs.method(),     attrs.coordinateTransformationMode(),
                          attrs.roundingMethod(),    attrs.cubicAlpha(), attrs.cubicExclude() != 0,
                          attrs.extrapolationValue()};
  if (settings.rounding.empty()) settings.rounding = settings.mode == "align_corners" ? "round" : "floor";
  return settings;
}

}  // namespace

Result<void> checkResizeMode(const OpCall& call) {
  static constexpr std::string_view kModes[] = {"half_pixel",           "align_corners",
                                                "asymmetric",           "pytorch_half_pixel",
                                                "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  const std::string& mode = call.attrs->stringOf("coordinate_transformation_mode");
  if (std::ranges::find(kModes, mode) != std::end(kModes)) return success();
  return unknownValue(call, "coordinate_transformation_mode",
                      "\"half_pixel\", \"align_corners\", \"asymmetric\", \"pytorch_half_pixel\", "
                      "\"tf_half_pixel_for_nn\" or \"tf_crop_and_resize\"");
}

Result<std::optional<StructureResult>> resizeStructure(const OpCall& call, StructureContext& context) {
  const ResizeAttrs attrs{*call.attrs};
  const std::string_view letters = resizedLetters(call);
  BATON_TRY_ASSIGN(const LayoutAxes axes, layoutAxes(call, letters));
  if (attrs.method() != "nearest_neighbor" && attrs.method() != "linear" && attrs.method() != "cubic")
    return unknownValue(call, "method", "\"nearest_neighbor\", \"linear\" or \"cubic\"");
  BATON_TRY(checkResizeMode(call));
  static constexpr std::string_view kRoundings[] = {
      "", "round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil"};
  if (std::ranges::find(kRoundings, attrs.roundingMethod()) == std::end(kRoundings))
    return unknownValue(call, "rounding_method",
                        "\"round\", \"floor\", \"ceil\", \"round_prefer_floor\" or \"round_prefer_ceil\"");
  BATON_TRY(context.requireRank(0, axes.rank));
  const size_t count = letters.size();
  if (attrs.size() == nullptr) {
    BATON_TRY_ASSIGN(const std::optional<int> given, shapeRank(call, context, wantedSize(call)));
    if (given && static_cast<size_t>(*given) != count)
      return opError(call, fmt::format("size has {} elements; expected {}", *given, count));
  } else if (attrs.size()->size() != count) {
    return opError(call, fmt::format("size has {} elements; expected {}", attrs.size()->size(), count));
  }
  const std::optional<size_t> roi = roiInput(call);
  if (roi) BATON_TRY(context.requireRank(*roi, 1));
  if (!roi && attrs.coordinateTransformationMode() == "tf_crop_and_resize" &&
      (attrs.roi() == nullptr || attrs.roi()->size() != 2 * count))
    return opError(call, fmt::format("the roi has {} elements; expected {}",
                                     attrs.roi() == nullptr ? 0 : attrs.roi()->size(), 2 * count));
  BATON_TRY_ASSIGN(const std::optional<DType> dtype, givenOrInputDType(context, attrs.outDtype()));
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, axes.rank);
}

Result<std::vector<TensorDims>> resizeDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const ResizeSettings settings, resizeSettings(call));
  BATON_TRY_ASSIGN(const std::vector<DimExpr> wanted, shapeExtents(call, context, wantedSize(call)));
  TensorDims result{copyDims(context, 0)};
  for (size_t i = 0; i < settings.axes.size(); ++i) {
    BATON_TRY(requireElements(call, context, 0, settings.axes[i], wanted.at(i)));
    result.extents[settings.axes[i]] = wanted[i];
  }
  if (const std::optional<size_t> roi = roiInput(call)) {
    context.blame(*roi);
    BATON_TRY(context.require(context.dims(*roi)[0], Relation::Eq,
                              DimExpr::constant(static_cast<int64_t>(2 * settings.axes.size())),
                              fmt::format("{}: the roi has {{0}} elements; expected {{1}}", call.op->name)));
  }
  return std::vector<TensorDims>{std::move(result)};
}

using loop::Value;

Result<Value> resizeElement(ElementContext& context, std::span<const Value> index) {
  const OpCall& call = context.call();
  BATON_TRY_ASSIGN(const ResizeSettings settings, resizeSettings(call));
  Emitter& emitter = context.emitter();
  const std::optional<size_t> roi = roiInput(call);
  const auto bound = [&](size_t i) -> Result<Value> {
    if (!roi) return context.builder().f32((*ResizeAttrs{*call.attrs}.roi())[i]);
    BATON_TRY_ASSIGN(const Value given, context.read(*roi, {emitter.number(static_cast<int64_t>(i))}));
    return loop::cast(given, DType::F32);
  };
  const DType data = context.inputType(0);
  const DType type = settings.isNearest() ? data : blendType(data);
  const size_t count = settings.axes.size();
  std::vector<Taps> taps;
  std::optional<Value> isExtrapolated;
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = settings.axes[i];
    const ResizedAxis resized{index[axis], emitter.dim(context.inputDims(0)[axis]),
                              emitter.dim(context.wantedDims()[axis])};
    if (settings.isNearest() && !settings.isCrop()) {
      taps.push_back({{nearestElement(emitter, settings.mode, settings.rounding, resized)}});
      continue;
    }
    std::optional<Value> start;
    std::optional<Value> end;
    if (settings.isCrop()) {
      BATON_TRY_ASSIGN(start, bound(i));
      BATON_TRY_ASSIGN(end, bound(i + count));
    }
    const Value place = resizedPlace(emitter, settings.mode, resized, start, end);
    if (settings.isCrop()) {
      const Value outside = isOutside(place, resized.in);
      isExtrapolated = isExtrapolated ? *isExtrapolated | outside : outside;
    }
    if (settings.isNearest())
      taps.push_back(
          {{clampedPosition(emitter, wholePart(roundedPlace(place, settings.rounding)), resized.in)}});
    else if (settings.method == "linear")
      taps.push_back(linearTaps(emitter, place, resized.in, type));
    else
      taps.push_back(cubicTaps(emitter, place, resized.in, type, settings.alpha, settings.excludesOutside));
  }
  BATON_TRY_ASSIGN(const Value value,
                   interpolated(context, {index.begin(), index.end()}, settings.axes, taps, type));
  const Value result = loop::cast(value, context.wantedType());
  if (!isExtrapolated) return result;
  return loop::select(*isExtrapolated,
                      context.builder().constant(context.wantedType(), settings.extrapolation), result);
}

void plainResize(const ReferenceCall& call, const ResizeSettings& settings, const std::vector<float>& roi) {
  const DType to = call.results[0].dtype;
  const size_t count = settings.axes.size();
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    std::vector<int64_t> at(index.begin(), index.end());
    std::vector<PlainTaps> taps;
    bool isExtrapolated = false;
    for (size_t i = 0; i < count; ++i) {
      const size_t axis = settings.axes[i];
      const PlainAxis resized{index[axis], call.extent(0, axis), call.results[0].shape[axis]};
      const bool isCrop = settings.isCrop();
      const float place =
          plainPlace(settings.mode, resized, isCrop ? roi[i] : 0, isCrop ? roi[i + count] : 0);
      if (isCrop) isExtrapolated = isExtrapolated || place < 0 || place > static_cast<float>(resized.in) - 1;
      if (settings.isNearest())
        at[axis] = isCrop ? plainClamped(plainWhole(plainRounded(place, settings.rounding)), resized.in)
                          : plainNearest(settings.mode, settings.rounding, resized);
      else if (settings.method == "linear")
        taps.push_back(plainLinear(place, resized.in));
      else
        taps.push_back(plainCubic(place, resized.in, settings.alpha, settings.excludesOutside));
    }
    uint64_t bits = 0;
    if (isExtrapolated)
      bits = convertScalar(scalarBits(settings.extrapolation), DType::F64, to);
    else if (settings.isNearest())
      bits = convertScalar(call.load(0, at), call.inputs[0].dtype, to);
    else
      bits = plainInterpolated(call, at, settings.axes, taps);
    call.store(0, index, bits);
  });
}

Result<void> resizeReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const ResizeSettings settings, resizeSettings(call.call));
  std::vector<float> roi;
  for (size_t i = 0; settings.isCrop() && i < 2 * settings.axes.size(); ++i) {
    const std::optional<size_t> input = roiInput(call.call);
    const auto at = static_cast<int64_t>(i);
    roi.push_back(input ? scalarFromBits<float>(
                              convertScalar(call.load(*input, at), call.inputs[*input].dtype, DType::F32))
                        : static_cast<float>((*ResizeAttrs{*call.call.attrs}.roi())[i]));
  }
  plainResize(call, settings, roi);
  return success();
}

}  // namespace baton::ops

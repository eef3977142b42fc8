// nn.upsampling and nn.upsampling3d, with scales as attributes and as scalars: resizes by factors.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/image/resize.h"
#include "compiler/ops/image/spatial_axes.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

bool isVolume(const OpCall& call) { return call.op->name.ends_with("3d"); }
std::string_view upsampledLetters(const OpCall& call) { return isVolume(call) ? "DHW" : "HW"; }

/// Names of the attributes that hold the scales, in the order of the axes.
constexpr std::string_view kScaleNames[] = {"scale_d", "scale_h", "scale_w"};
double scaleAttr(const OpCall& call, size_t axis) {
  return call.attrs->floatOf(kScaleNames[axis + (isVolume(call) ? 0 : 1)]);
}

Result<ResizeSettings> upsamplingSettings(const OpCall& call) {
  BATON_TRY_ASSIGN(LayoutAxes axes, layoutAxes(call, upsampledLetters(call)));
  ResizeSettings settings;
  settings.axes = std::move(axes.axes);
  const std::string& method = call.attrs->stringOf("method");
  settings.method = method == "bilinear" || method == "trilinear" ? "linear"
                    : method == "bicubic"                         ? "cubic"
                                                                  : method;
  settings.mode = isVolume(call) ? call.attrs->stringOf("coordinate_transformation_mode")
                  : call.attrs->boolOf("align_corners") ? "align_corners"
                                                        : "asymmetric";
  settings.rounding = settings.mode == "align_corners" ? "round" : "floor";
  return settings;
}

constexpr float kLeastScale = 1e-6F;
constexpr float kGreatestScale = 1e6F;
bool isScale(double given) {
  const auto scale = static_cast<float>(given);
  return scale >= kLeastScale && scale <= kGreatestScale;
}

struct Fraction {
  int64_t above;
  int64_t below;
};
/// The fraction with the least denominator that is this number in float32, which is one itself.
Fraction fractionOf(double scale) {
  const auto wanted = static_cast<float>(scale);
  constexpr int64_t kMost = 4096;
  for (int64_t below = 1; below <= kMost; ++below) {
    const int64_t above = std::llround(static_cast<double>(wanted) * static_cast<double>(below));
    if (static_cast<float>(static_cast<double>(above) / static_cast<double>(below)) == wanted)
      return {above, below};
  }
  int exponent = 0;
  const double mantissa = std::frexp(static_cast<double>(wanted), &exponent);
  const auto above = static_cast<int64_t>(std::ldexp(mantissa, 24));
  // 2^(24 - exponent), where the exponent of a scale is between -20 and 20.
  const int64_t below = int64_t{1} << (24 - exponent);
  const int64_t divisor = std::gcd(above, below);
  return {above / divisor, below / divisor};
}

/// The extent times the scale, rounded, halves up.
DimExpr scaledExtent(const DimExpr& extent, double scale) {
  const auto [above, below] = fractionOf(scale);
  if (below == 1) return extent * DimExpr::constant(above);
  return floorDiv(extent * DimExpr::constant(2 * above) + DimExpr::constant(below),
                  DimExpr::constant(2 * below));
}

std::vector<TensorDims> upsampledDims(const ResizeSettings& settings, DimsContext& context,
                                      const std::vector<DimExpr>& extents) {
  TensorDims result{copyDims(context, 0)};
  for (size_t i = 0; i < extents.size(); ++i) result.extents[settings.axes[i]] = extents[i];
  return {std::move(result)};
}

}  // namespace

Result<std::optional<StructureResult>> upsamplingStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY_ASSIGN(const LayoutAxes axes, layoutAxes(call, upsampledLetters(call)));
  const std::string& method = call.attrs->stringOf("method");
  if (isVolume(call)) {
    if (method != "nearest_neighbor" && method != "trilinear")
      return unknownValue(call, "method", "\"nearest_neighbor\" or \"trilinear\"");
    BATON_TRY(checkResizeMode(call));
    if (call.attrs->stringOf("coordinate_transformation_mode") == "tf_crop_and_resize")
      return opError(call, "there is no roi for tf_crop_and_resize");
  } else if (method != "nearest_neighbor" && method != "bilinear" && method != "bicubic") {
    return unknownValue(call, "method", "\"nearest_neighbor\", \"bilinear\" or \"bicubic\"");
  }
  for (size_t i = 0; i < axes.axes.size() && call.inputCount == 1; ++i)
    if (const double scale = scaleAttr(call, i); !isScale(scale))
      return opError(call, fmt::format("a scale is {}; expected 1e-6 to 1e6", scale));
  for (size_t i = 1; i < call.inputCount; ++i) BATON_TRY(context.requireRank(i, 0));
  BATON_TRY(context.requireRank(0, axes.rank));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, axes.rank);
}

Result<std::vector<TensorDims>> upsamplingDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const ResizeSettings settings, upsamplingSettings(call));
  std::vector<DimExpr> extents;
  for (size_t i = 0; i < settings.axes.size(); ++i) {
    const DimExpr extent = context.dims(0)[settings.axes[i]];
    extents.push_back(scaledExtent(extent, scaleAttr(call, i)));
    BATON_TRY(requireElements(call, context, 0, settings.axes[i], extents.back()));
  }
  return upsampledDims(settings, context, extents);
}

Result<std::vector<TensorDims>> dynUpsamplingDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const ResizeSettings settings, upsamplingSettings(call));
  std::vector<DimExpr> extents;
  for (size_t i = 0; i < settings.axes.size(); ++i) {
    const DimExpr extent = context.dims(0)[settings.axes[i]];
    const std::optional<double> given = context.constantFloat(i + 1);
    if (!given) {
      extents.push_back(context.fresh("upsampled"));
      continue;
    }
    if (!isScale(*given)) {
      context.blame(i + 1);
      return opError(call, fmt::format("a scale is {}; expected 1e-6 to 1e6", *given));
    }
    const auto scale = static_cast<float>(*given);
    if (scale == std::floor(scale)) {
      extents.push_back(extent * DimExpr::constant(static_cast<int64_t>(scale)));
    } else if (const std::optional<int64_t> known = extent.asConstant()) {
      const float exact = static_cast<float>(*known) * scale;
      const float floored = std::floor(exact);
      extents.push_back(DimExpr::constant(static_cast<int64_t>(floored) + (exact - floored >= 0.5F ? 1 : 0)));
    } else {
      extents.push_back(context.fresh("upsampled"));
      continue;  // the resize that it becomes asks for elements
    }
    BATON_TRY(requireElements(call, context, 0, settings.axes[i], extents.back()));
  }
  return upsampledDims(settings, context, extents);
}

namespace {

ir::Attrs resizeAttrs(const OpCall& call, const ResizeSettings& settings) {
  ir::Attrs attrs;
  attrs.set("layout", call.attrs->stringOf("layout"));
  attrs.set("method", settings.method);
  attrs.set("coordinate_transformation_mode", settings.mode);
  attrs.set("rounding_method", settings.rounding);
  return attrs;
}
std::string_view resizeOp(const OpCall& call) { return isVolume(call) ? "image.resize3d" : "image.resize2d"; }

std::vector<DimExpr> wantedExtents(const ExpandContext& context, const ResizeSettings& settings) {
  const std::vector<DimExpr> all = context.resultDims();
  std::vector<DimExpr> wanted;
  for (const size_t axis : settings.axes) wanted.push_back(all[axis]);
  return wanted;
}

/// Whether the operands' extents say what they are.
bool areGiven(const ExpandContext& context, const std::vector<DimExpr>& extents) {
  std::vector<DimSymbol> given;
  for (const DimExpr& extent : context.dims(context.input(0))) extent.collectSymbols(given);
  std::vector<DimSymbol> used;
  for (const DimExpr& extent : extents) extent.collectSymbols(used);
  return std::ranges::all_of(
      used, [&](DimSymbol symbol) { return std::ranges::find(given, symbol) != given.end(); });
}

/// The extent of an axis times its scale, as an int64.
Result<TensorId> scaledExtent(ExpandContext& context, size_t axis, TensorId given) {
  const auto number = [&](double value) { return context.scalar(DType::F32, value); };
  BATON_TRY_ASSIGN(const TensorId extent, context.extentOf(context.input(0), axis));
  BATON_TRY_ASSIGN(const TensorId scale, context.cast(given, DType::F32));
  BATON_TRY_ASSIGN(const TensorId whole, context.make("floor", {}, {scale}));
  BATON_TRY_ASSIGN(const TensorId factor, context.cast(whole, DType::I64));
  BATON_TRY_ASSIGN(const TensorId multiple, context.make("multiply", {}, {extent, factor}));
  BATON_TRY_ASSIGN(const TensorId wide, context.cast(extent, DType::F32));
  BATON_TRY_ASSIGN(const TensorId product, context.make("multiply", {}, {wide, scale}));
  BATON_TRY_ASSIGN(const TensorId floored, context.make("floor", {}, {product}));
  BATON_TRY_ASSIGN(const TensorId rest, context.make("subtract", {}, {product, floored}));
  BATON_TRY_ASSIGN(const TensorId isUp, context.make("greater_equal", {}, {rest, number(0.5)}));
  BATON_TRY_ASSIGN(const TensorId up, context.cast(isUp, DType::I64));
  BATON_TRY_ASSIGN(const TensorId down, context.cast(floored, DType::I64));
  BATON_TRY_ASSIGN(const TensorId rounded, context.make("add", {}, {down, up}));
  BATON_TRY_ASSIGN(const TensorId isWhole, context.make("equal", {}, {whole, scale}));
  BATON_TRY_ASSIGN(const TensorId size, context.make("where", {}, {isWhole, multiple, rounded}));
  // A scale that is none is a size that is none.
  BATON_TRY_ASSIGN(const TensorId isMore, context.make("greater_equal", {}, {scale, number(kLeastScale)}));
  BATON_TRY_ASSIGN(const TensorId isLess, context.make("less_equal", {}, {scale, number(kGreatestScale)}));
  BATON_TRY_ASSIGN(const TensorId isFine, context.make("logical_and", {}, {isMore, isLess}));
  return context.make("where", {}, {isFine, size, context.scalar(DType::I64, -1)});
}

}  // namespace

Result<void> upsamplingLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const ResizeSettings settings, upsamplingSettings(context.call()));
  ir::Attrs attrs = resizeAttrs(context.call(), settings);
  attrs.set("size", wantedExtents(context, settings));
  BATON_TRY_ASSIGN(const TensorId result, context.make(resizeOp(context.call()), attrs, {context.input(0)}));
  context.become({result});
  return success();
}

Result<void> dynUpsamplingLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const ResizeSettings settings, upsamplingSettings(context.call()));
  if (areGiven(context, wantedExtents(context, settings))) return upsamplingLegal(context);
  std::vector<TensorId> sizes;
  for (size_t i = 0; i < settings.axes.size(); ++i) {
    BATON_TRY_ASSIGN(const TensorId size, scaledExtent(context, settings.axes[i], context.input(i + 1)));
    sizes.push_back(size);
  }
  BATON_TRY_ASSIGN(const TensorId size, context.make("stack", {}, sizes));
  BATON_TRY_ASSIGN(const TensorId result,
                   context.make(resizeOp(context.call()), resizeAttrs(context.call(), settings),
                                {context.input(0), size}));
  context.become({result});
  return success();
}

Result<void> upsamplingReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const ResizeSettings settings, upsamplingSettings(call.call));
  plainResize(call, settings, {});
  return success();
}

}  // namespace baton::ops

// nn.deformable_conv2d: samples at places that offsets move, and a convolution of them.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/convolution/convolution.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/lowering/wide_expansion.h"
#include "compiler/ops/nn/product_type.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

namespace {

Result<int64_t> deformableGroups(const OpCall& call) {
  const int64_t groups = call.attrs->intOf("deformable_groups");
  if (groups < 1 || groups > INT32_MAX)
    return opError(call, fmt::format("deformable_groups is {}; expected 1 to {}", groups, INT32_MAX));
  return groups;
}

/// What the offsets have to be, as N, C, H, W.
Result<void> checkOffsets(const OpCall& call, DimsContext& context, std::span<const DimExpr> offset,
                          const DimExpr& batch, const DimExpr& channels, std::span<const DimExpr> window,
                          std::span<const DimExpr> places) {
  BATON_TRY_ASSIGN(const int64_t count, deformableGroups(call));
  const DimExpr groups = DimExpr::constant(count);
  context.blame(1);
  const DimExpr wanted[] = {batch, groups * window[0] * window[1] * DimExpr::constant(2), places[0],
                            places[1]};
  for (size_t i = 0; i < 4; ++i)
    BATON_TRY(context.require(offset[i], Relation::Eq, wanted[i],
                              fmt::format("{}: the extent of {} is {{0}} in the offset; expected {{1}}",
                                          call.op->name, "NCHW"[i])));
  return context.require(
      floorMod(channels, groups), Relation::Eq, DimExpr(),
      fmt::format("{}: {{1}} groups of offsets do not divide {{0}} channels", call.op->name),
      {channels, groups});
}

std::vector<DimExpr> byLetters(const Layout& layout, std::span<const DimExpr> dims,
                               std::string_view letters) {
  std::vector<DimExpr> out;
  for (const char name : letters) out.push_back(wholeExtent(layout, dims, name));
  return out;
}

}  // namespace

Result<std::optional<StructureResult>> deformableConv2dStructure(const OpCall& call,
                                                                 StructureContext& context) {
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf(call));
  BATON_TRY(deformableGroups(call));
  for (const size_t input : {0, 1})
    BATON_TRY(context.requireRank(input, static_cast<int>(convolution.data.size())));
  BATON_TRY(context.requireRank(2, static_cast<int>(convolution.weight.size())));
  BATON_TRY(context.requireSameDType(0, 2));
  return productStructure(call, context, call.attrs->get<DType>("out_dtype"),
                          static_cast<int>(convolution.result.size()));
}

Result<std::vector<TensorDims>> deformableConv2dDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf(call));
  BATON_TRY_ASSIGN(TensorDims result, convolvedDims(call, context, convolution, 2));
  const std::vector<DimExpr> data = byLetters(convolution.data, copyDims(context, 0), "NC");
  BATON_TRY(requireBlocks(call, context, 1, convolution.data));
  BATON_TRY(checkOffsets(call, context, byLetters(convolution.data, copyDims(context, 1), "NCHW"), data[0],
                         data[1], byLetters(convolution.weight, copyDims(context, 2), "HW"),
                         byLetters(convolution.result, result.extents, "HW")));
  return std::vector<TensorDims>{std::move(result)};
}

Result<void> deformableConv2dLegal(ExpandContext& context) {
  const OpCall& call = context.call();
  WideExpansion expansion(context);
  const auto inLayout = [&](size_t input, std::string_view attr,
                            const std::string& wanted) -> Result<TensorId> {
    BATON_TRY_ASSIGN(const TensorId tensor, expansion.input(input));
    if (call.attrs->stringOf(attr) == wanted) return tensor;
    ir::Attrs layouts;
    layouts.set("src_layout", call.attrs->stringOf(attr));
    layouts.set("dst_layout", wanted);
    return context.make("layout_transform", layouts, {tensor});
  };
  BATON_TRY_ASSIGN(const TensorId data, inLayout(0, "data_layout", "NCHW"));
  BATON_TRY_ASSIGN(const TensorId offset, inLayout(1, "data_layout", "NCHW"));
  BATON_TRY_ASSIGN(TensorId weight, inLayout(2, "kernel_layout", "OIHW"));
  ir::Attrs window;
  for (const std::string_view name : {"strides", "padding", "dilation", "deformable_groups"})
    window.set(name, *call.attrs->find(name));
  BATON_TRY_ASSIGN(const TensorId samples,
                   context.make("nn.deformable_conv2d.samples", window, {data, offset, weight}));
  // A window of one element over as many channels as the window had elements for each of them.
  const std::vector<DimExpr> dims = context.dims(weight);
  BATON_TRY_ASSIGN(weight, context.reshape(weight, {dims[0], dims[1] * dims[2] * dims[3], one(), one()}));
  ir::Attrs attrs;
  attrs.set("groups", call.attrs->intOf("groups"));
  const std::string& wanted = call.attrs->stringOf("out_layout");
  attrs.set("out_layout", wanted.empty() ? call.attrs->stringOf("data_layout") : wanted);
  attrs.set("out_dtype", accumulationType(context.resultType()));
  BATON_TRY_ASSIGN(TensorId result, context.make("nn.conv2d", attrs, {samples, weight}));
  BATON_TRY_ASSIGN(result, expansion.narrow(result));
  context.become({result});
  return success();
}

Result<std::optional<StructureResult>> deformableSamplesStructure(const OpCall& call,
                                                                  StructureContext& context) {
  BATON_TRY(windowAxes(call));
  BATON_TRY(deformableGroups(call));
  for (const size_t input : {0, 1, 2}) BATON_TRY(context.requireRank(input, 4));
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 4);
}

Result<std::vector<TensorDims>> deformableSamplesDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const std::vector<WindowAxis> axes, windowAxes(call));
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> weight = copyDims(context, 2);
  std::vector<DimExpr> places;
  for (size_t i = 0; i < 2; ++i) {
    BATON_TRY_ASSIGN(DimExpr extent, windowPlaces(call, context, axes[i], data[2 + i],
                                                  windowSpan(weight[2 + i], axes[i]), false));
    places.push_back(std::move(extent));
  }
  BATON_TRY(checkOffsets(call, context, copyDims(context, 1), data[0], data[1], std::span(weight).subspan(2),
                         places));
  return std::vector<TensorDims>{{{data[0], data[1] * weight[2] * weight[3], places[0], places[1]}}};
}

Result<loop::Value> deformableSamplesElement(ElementContext& context, std::span<const loop::Value> index) {
  using loop::Value;
  const OpCall& call = context.call();
  BATON_TRY_ASSIGN(const std::vector<WindowAxis> axes, windowAxes(call));
  BATON_TRY_ASSIGN(const int64_t groups, deformableGroups(call));
  Emitter& e = context.emitter();
  loop::Builder& b = context.builder();
  const auto dims = context.inputDims(0);
  const auto window = context.inputDims(2).subspan(2);
  const DType type = accumulationType(context.inputType(0));
  const Value elements = e.dim(window[0] * window[1]);
  const Value channel = e.floorDiv(index[1], elements);
  const Value element = e.floorMod(index[1], elements);
  const Value k[] = {e.floorDiv(element, e.dim(window[1])), e.floorMod(element, e.dim(window[1]))};
  const Value group = e.floorDiv(channel, e.dim(floorDiv(dims[1], DimExpr::constant(groups))));
  const Value pair = e.add(e.mul(group, elements), element);
  Value place[2];
  std::optional<Value> isInside;
  for (size_t i = 0; i < 2; ++i) {
    const Value at = e.add(e.sub(e.mul(index[2 + i], e.number(axes[i].stride)), e.number(axes[i].before)),
                           e.mul(k[i], e.number(axes[i].dilation)));
    const Value number = e.add(e.mul(pair, e.number(2)), e.number(static_cast<int64_t>(i)));
    BATON_TRY_ASSIGN(const Value moved, context.read(1, {index[0], number, index[2], index[3]}));
    place[i] = loop::cast(at, type) + widen(moved);
    const Value fits = (place[i] >= b.constant(type, 0)) & (place[i] < loop::cast(e.dim(dims[2 + i]), type));
    isInside = isInside ? *isInside & fits : fits;
  }
  const loop::LocalIndex sample = b.local(type);
  b.set(sample, b.constant(type, 0));
  e.beginIf(*isInside);
  Value low[2];
  Value high[2];
  Value part[2];
  for (size_t i = 0; i < 2; ++i) {
    const Value last = e.dim(dims[2 + i] - one());
    const Value below = loop::floor(place[i]);
    low[i] = loop::cast(below, DType::I64);
    high[i] = loop::min(loop::cast(loop::ceil(place[i]), DType::I64), last);
    part[i] = place[i] - below;
  }
  const auto read = [&](Value row, Value column) -> Result<Value> {
    BATON_TRY_ASSIGN(const Value value, context.read(0, {index[0], channel, row, column}));
    return widen(value);
  };
  const Value rest[] = {b.constant(type, 1) - part[0], b.constant(type, 1) - part[1]};
  const auto between = [&](Value row) -> Result<Value> {
    BATON_TRY_ASSIGN(const Value left, read(row, low[1]));
    BATON_TRY_ASSIGN(const Value right, read(row, high[1]));
    return left * rest[1] + right * part[1];
  };
  BATON_TRY_ASSIGN(const Value top, between(low[0]));
  BATON_TRY_ASSIGN(const Value bottom, between(high[0]));
  b.set(sample, top * rest[0] + bottom * part[0]);
  e.end();
  return loop::cast(b.get(sample), context.wantedType());
}

namespace {

/// The samples, as the loops compute them, for tensors in any layouts.
template <class T>
class PlainSamples {
 public:
  PlainSamples(const ReferenceCall& call, const Layout& layout, std::vector<WindowAxis> axes, int64_t groups,
               std::array<int64_t, 2> window)
      : call_(call), layout_(layout), axes_(std::move(axes)), groups_(groups), window_(window) {}

  T load(size_t input, int64_t n, int64_t c, int64_t h, int64_t w) const {
    const std::vector<int64_t> at = indexIn(layout_, [&](char name) {
      return name == 'N' ? n : name == 'C' ? c : name == 'H' ? h : w;
    });
    const DType type = call_.inputs[input].dtype;
    return scalarFromBits<T>(convertScalar(call_.load(input, at), type, accumulationType(type)));
  }
  int64_t extent(char name) const {
    return call_.extent(0, placeIn(layout_, {name, 0})) * blockOf(layout_, name);
  }

  /// Of channel c and element (u, v) of the window at place (p, q).
  T at(int64_t n, int64_t c, int64_t u, int64_t v, int64_t p, int64_t q) const {
    const int64_t pair = c / (extent('C') / groups_) * window_[0] * window_[1] + u * window_[1] + v;
    const auto placed = [&](size_t i, int64_t place, int64_t k) {
      return static_cast<T>(place * axes_[i].stride - axes_[i].before + k * axes_[i].dilation) +
             load(1, n, 2 * pair + static_cast<int64_t>(i), p, q);
    };
    const T y = placed(0, p, u);
    const T x = placed(1, q, v);
    if (!(y >= 0 && y < static_cast<T>(extent('H')) && x >= 0 && x < static_cast<T>(extent('W'))))
      return T{0};
    const auto y0 = static_cast<int64_t>(std::floor(y));
    const auto x0 = static_cast<int64_t>(std::floor(x));
    const int64_t y1 = std::min(static_cast<int64_t>(std::ceil(y)), extent('H') - 1);
    const int64_t x1 = std::min(static_cast<int64_t>(std::ceil(x)), extent('W') - 1);
    const T a = y - std::floor(y);
    const T b = x - std::floor(x);
    const T top = load(0, n, c, y0, x0) * (T{1} - b) + load(0, n, c, y0, x1) * b;
    const T bottom = load(0, n, c, y1, x0) * (T{1} - b) + load(0, n, c, y1, x1) * b;
    return top * (T{1} - a) + bottom * a;
  }

 private:
  const ReferenceCall& call_;
  const Layout& layout_;
  std::vector<WindowAxis> axes_;
  int64_t groups_;
  std::array<int64_t, 2> window_;
};

template <class T>
Result<void> plainSamples(ReferenceCall& call) {
  BATON_TRY_ASSIGN(std::vector<WindowAxis> axes, windowAxes(call.call));
  BATON_TRY_ASSIGN(const int64_t groups, deformableGroups(call.call));
  const Layout layout = {{'N', 0}, {'C', 0}, {'H', 0}, {'W', 0}};
  const std::array<int64_t, 2> window = {call.extent(2, 2), call.extent(2, 3)};
  const PlainSamples<T> samples(call, layout, std::move(axes), groups, window);
  const DType type = call.results[0].dtype;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t element = index[1] % (window[0] * window[1]);
    const T sample = samples.at(index[0], index[1] / (window[0] * window[1]), element / window[1],
                                element % window[1], index[2], index[3]);
    call.store(0, index, convertScalar(scalarBits(sample), accumulationType(type), type));
  });
  return success();
}

/// `T`: of the samples; `Sum`: of what is accumulated.
template <class T, class Sum>
Result<void> plainDeformable(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf(call.call));
  BATON_TRY_ASSIGN(const int64_t groups, deformableGroups(call.call));
  const auto weightExtent = [&](char name) {
    return call.extent(2, placeIn(convolution.weight, {name, 0})) * blockOf(convolution.weight, name);
  };
  const std::array<int64_t, 2> window = {weightExtent('H'), weightExtent('W')};
  const PlainSamples<T> samples(call, convolution.data, convolution.axes, groups, window);
  const int64_t inputs = samples.extent('C') / convolution.groups;
  const DType type = call.results[0].dtype;
  const int64_t outputs = call.results[0].shape[placeIn(convolution.result, {'C', 0})] *
                          blockOf(convolution.result, 'C') / convolution.groups;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const auto along = [&](char name) { return positionAlong(convolution.result, index, name); };
    const int64_t first = along('C') / outputs * inputs;
    Sum sum{};
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t u = 0; u < window[0]; ++u)
        for (int64_t v = 0; v < window[1]; ++v) {
          const std::vector<int64_t> at = indexIn(convolution.weight, [&](char name) {
            return name == 'O' ? along('C') : name == 'I' ? i : name == 'H' ? u : v;
          });
          const Sum w = scalarFromBits<Sum>(
              convertScalar(call.load(2, at), call.inputs[2].dtype, accumulationType(type)));
          sum = std::fma(static_cast<Sum>(samples.at(along('N'), first + i, u, v, along('H'), along('W'))), w,
                         sum);
        }
    call.store(0, index, convertScalar(scalarBits(sum), accumulationType(type), type));
  });
  return success();
}

}  // namespace

Result<void> deformableSamplesReference(ReferenceCall& call) {
  return call.inputs[0].dtype == DType::F64 ? plainSamples<double>(call) : plainSamples<float>(call);
}
Result<void> deformableConv2dReference(ReferenceCall& call) {
  if (call.inputs[0].dtype == DType::F64) return plainDeformable<double, double>(call);
  return call.results[0].dtype == DType::F64 ? plainDeformable<float, double>(call)
                                             : plainDeformable<float, float>(call);
}

}  // namespace baton::ops

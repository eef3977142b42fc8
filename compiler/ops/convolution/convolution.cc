// Relations of convolutions, transposed ones among them, and their reference version.
#include "compiler/ops/convolution/convolution.h"

#include <cmath>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/nn/product_type.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

Result<Convolution> convolutionOf(const OpCall& call) {
  Convolution out;
  out.isTransposed = call.op->name.find("transpose") != std::string_view::npos;
  BATON_TRY_ASSIGN(out.data, windowLayout(call, "data_layout", "NC"));
  BATON_TRY_ASSIGN(out.weight, windowLayout(call, "kernel_layout", "OI"));
  BATON_TRY_ASSIGN(out.result, resultLayout(call, "data_layout"));
  BATON_TRY_ASSIGN(out.axes, windowAxes(call));
  out.outputPadding.assign(out.rank(), 0);
  if (out.isTransposed) {
    BATON_TRY_ASSIGN(out.outputPadding, perAxis(call, "output_padding", 0));
  }
  out.groups = call.attrs->intOf("groups");
  if (out.groups < 1 || out.groups > INT32_MAX)
    return opError(call, fmt::format("groups is {}; expected 1 to {}", out.groups, INT32_MAX));
  const auto* sizes = std::get_if<std::vector<int64_t>>(call.attrs->find("kernel_size"));
  if (sizes != nullptr && sizes->size() != out.rank())
    return opError(call, fmt::format("kernel_size has {} entries; expected {}", sizes->size(), out.rank()));
  const std::optional<int64_t> channels = call.attrs->get<int64_t>("channels");
  if (channels && (*channels < 0 || *channels % out.groups != 0))
    return opError(call, fmt::format("{} channels cannot be made in {} groups", *channels, out.groups));
  return out;
}

namespace {

/// Channels of the whole result.
DimExpr outputChannels(const OpCall& call, const Convolution& convolution, std::span<const DimExpr> weight) {
  if (const std::optional<int64_t> channels = call.attrs->get<int64_t>("channels"))
    return DimExpr::constant(*channels);
  const DimExpr own = wholeExtent(convolution.weight, weight, 'O');
  return convolution.isTransposed ? own * DimExpr::constant(convolution.groups) : own;
}

/// What the weight has to be, beside the extents of its window.
Result<void> checkChannels(const OpCall& call, DimsContext& context, const Convolution& convolution,
                           const DimExpr& inputs, std::span<const DimExpr> weight, size_t weightInput) {
  const DimExpr groups = DimExpr::constant(convolution.groups);
  const DimExpr taken = wholeExtent(convolution.weight, weight, 'I');
  context.blame(weightInput);
  BATON_TRY(context.require(
      inputs, Relation::Eq, convolution.isTransposed ? taken : taken * groups,
      fmt::format("{}: the data has {{0}} channels, and the weight takes {{1}}", call.op->name)));
  const std::optional<int64_t> channels = call.attrs->get<int64_t>("channels");
  if (channels) {
    const int64_t own = convolution.isTransposed ? *channels / convolution.groups : *channels;
    const DimExpr block = DimExpr::constant(blockOf(convolution.weight, 'O'));
    BATON_TRY(context.require(
        weight[placeIn(convolution.weight, {'O', 0})], Relation::Eq, ceilDiv(DimExpr::constant(own), block),
        fmt::format("{}: the extent of O is {{0}} in the weight; {{1}} is that of {} channels", call.op->name,
                    *channels)));
  }
  if (convolution.groups == 1) return success();
  const DimExpr divided = convolution.isTransposed ? inputs : outputChannels(call, convolution, weight);
  return context.require(floorMod(divided, groups), Relation::Eq, DimExpr(),
                         fmt::format("{}: {{1}} groups do not divide {{0}} channels", call.op->name),
                         {divided, groups});
}

}  // namespace

Result<std::optional<StructureResult>> convolutionStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf(call));
  BATON_TRY(context.requireRank(0, static_cast<int>(convolution.data.size())));
  BATON_TRY(context.requireRank(1, static_cast<int>(convolution.weight.size())));
  return productStructure(call, context, call.attrs->get<DType>("out_dtype"),
                          static_cast<int>(convolution.result.size()));
}

Result<TensorDims> convolvedDims(const OpCall& call, DimsContext& context, const Convolution& convolution,
                                 size_t weightInput) {
  const std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> weight = copyDims(context, weightInput);
  BATON_TRY(requireBlocks(call, context, 0, convolution.data));
  BATON_TRY(requireBlocks(call, context, weightInput, convolution.weight));
  BATON_TRY(checkChannels(call, context, convolution, wholeExtent(convolution.data, data, 'C'), weight,
                          weightInput));
  const auto* sizes = std::get_if<std::vector<int64_t>>(call.attrs->find("kernel_size"));
  std::vector<DimExpr> places;
  for (size_t i = 0; i < convolution.rank(); ++i) {
    const WindowAxis& axis = convolution.axes[i];
    const DimExpr extent = data[placeIn(convolution.data, {axis.name, 0})];
    DimExpr count = weight[placeIn(convolution.weight, {axis.name, 0})];
    context.blame(weightInput);
    if (sizes != nullptr) {
      BATON_TRY_ASSIGN(
          count,
          requireEqual(context, count, DimExpr::constant((*sizes)[i]),
                       fmt::format("{}: the extent of {} is {{0}} in the weight and {{1}} in kernel_size",
                                   call.op->name, axis.name)));
    }
    BATON_TRY(
        context.require(count, Relation::Ge, one(),
                        fmt::format("{}: the weight has no elements along {}", call.op->name, axis.name)));
    const DimExpr span = windowSpan(count, axis);
    if (!convolution.isTransposed) {
      BATON_TRY_ASSIGN(DimExpr moved, windowPlaces(call, context, axis, extent, span, false));
      places.push_back(std::move(moved));
      continue;
    }
    const DimExpr padding = DimExpr::constant(axis.before) + DimExpr::constant(axis.after);
    DimExpr reached = (extent - one()) * DimExpr::constant(axis.stride) + span - padding +
                      DimExpr::constant(convolution.outputPadding[i]);
    context.blame(0);
    BATON_TRY(context.require(
        reached, Relation::Ge, DimExpr(),
        fmt::format("{}: the result would have {{0}} elements along {}", call.op->name, axis.name),
        {reached}));
    places.push_back(std::move(reached));
  }
  return extentsIn(call, context, convolution.result, [&](char name) {
    if (const std::optional<size_t> axis = convolution.axisNamed(name)) return places[*axis];
    return name == 'N' ? wholeExtent(convolution.data, data, 'N') : outputChannels(call, convolution, weight);
  });
}

Result<std::vector<TensorDims>> convolutionDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf(call));
  BATON_TRY_ASSIGN(TensorDims result, convolvedDims(call, context, convolution, 1));
  return std::vector<TensorDims>{std::move(result)};
}

ConvolutionExtents convolutionExtents(const OpCall& call, const Convolution& convolution,
                                      std::span<const DimExpr> data, std::span<const DimExpr> weight,
                                      std::span<const DimExpr> result) {
  ConvolutionExtents out;
  const DimExpr groups = DimExpr::constant(convolution.groups);
  out.batch = wholeExtent(convolution.data, data, 'N');
  const DimExpr taken = wholeExtent(convolution.weight, weight, 'I');
  out.inputs = convolution.isTransposed ? floorDiv(taken, groups) : taken;
  out.outputs = floorDiv(outputChannels(call, convolution, weight), groups);
  for (const WindowAxis& axis : convolution.axes) {
    out.data.push_back(data[placeIn(convolution.data, {axis.name, 0})]);
    out.window.push_back(weight[placeIn(convolution.weight, {axis.name, 0})]);
    out.places.push_back(result[placeIn(convolution.result, {axis.name, 0})]);
  }
  return out;
}

namespace {

/// Where the element of the data is that meets element k of the window at a place; nothing where there
/// is none, and 0 stands there. Of a transposed convolution, the window is turned round.
std::optional<int64_t> dataPosition(const Convolution& convolution, size_t axis, int64_t place, int64_t k,
                                    int64_t extent) {
  const WindowAxis& window = convolution.axes[axis];
  int64_t at = place * window.stride + k * window.dilation - window.before;
  if (convolution.isTransposed) {
    at = place + window.before - k * window.dilation;
    if (at % window.stride != 0) return std::nullopt;
    at /= window.stride;
  }
  return at >= 0 && at < extent ? std::optional(at) : std::nullopt;
}

template <class T>
void plainConvolution(ReferenceCall& call, const Convolution& convolution) {
  const auto extentOf = [&](size_t input, const Layout& layout, char name) {
    return call.extent(input, placeIn(layout, {name, 0})) * blockOf(layout, name);
  };
  const auto load = [&](size_t input, std::span<const int64_t> at) {
    return scalarFromBits<T>(convertScalar(call.load(input, at), call.inputs[input].dtype,
                                           accumulationType(call.results[0].dtype)));
  };
  const int64_t inputs = extentOf(0, convolution.data, 'C') / convolution.groups;
  const int64_t outputs = call.results[0].shape[placeIn(convolution.result, {'C', 0})] *
                          blockOf(convolution.result, 'C') / convolution.groups;
  std::vector<int64_t> window;
  for (const WindowAxis& axis : convolution.axes)
    window.push_back(extentOf(1, convolution.weight, axis.name));
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t output = positionAlong(convolution.result, index, 'C');
    const int64_t group = output / outputs;
    T sum{};
    for (int64_t input = group * inputs; input < (group + 1) * inputs; ++input)
      forEachPosition(window, [&](std::span<const int64_t> step) {
        std::vector<int64_t> k(step.begin(), step.end());
        std::vector<int64_t> position(k.size());
        bool isThere = true;
        for (size_t i = 0; i < k.size(); ++i) {
          if (convolution.isTransposed) k[i] = window[i] - 1 - k[i];
          const auto at =
              dataPosition(convolution, i, positionAlong(convolution.result, index, convolution.axes[i].name),
                           k[i], extentOf(0, convolution.data, convolution.axes[i].name));
          isThere &= at.has_value();
          position[i] = at.value_or(0);
        }
        T x{};
        if (isThere)
          x = load(0, indexIn(convolution.data, [&](char name) {
                     if (const auto axis = convolution.axisNamed(name)) return position[*axis];
                     return name == 'N' ? positionAlong(convolution.result, index, 'N') : input;
                   }));
        const T w = load(1, indexIn(convolution.weight, [&](char name) {
                           if (const auto axis = convolution.axisNamed(name)) return k[*axis];
                           if (name == 'O') return convolution.isTransposed ? output % outputs : output;
                           return convolution.isTransposed ? input : input - group * inputs;
                         }));
        if constexpr (std::is_floating_point_v<T>)
          sum = std::fma(x, w, sum);
        else
          sum = static_cast<T>(static_cast<uint64_t>(sum) +
                               static_cast<uint64_t>(x) * static_cast<uint64_t>(w));
      });
    call.store(
        0, index,
        convertScalar(scalarBits(sum), accumulationType(call.results[0].dtype), call.results[0].dtype));
  });
}

}  // namespace

Result<void> convolutionReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf(call.call));
  dispatchDType(accumulationType(call.results[0].dtype), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) plainConvolution<T>(call, convolution);
  });
  return success();
}

}  // namespace baton::ops

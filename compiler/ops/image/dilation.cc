// image.dilation2d: the greatest sum of elements and of a kernel that moves over them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/image/spatial_axes.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reference_call.h"
#include "compiler/ops/relations.h"

namespace baton::ops {

namespace {

struct Dilation {
  std::array<size_t, 3> axes;        ///< channel, height and width of the data
  std::array<size_t, 3> kernelAxes;  ///< and of the kernel
  std::array<int64_t, 2> strides;
  std::array<int64_t, 2> dilations;
  std::array<int64_t, 2> before;  ///< padding at the top and the left
  std::array<int64_t, 2> after;
};

Result<Dilation> dilationOf(const OpCall& call) {
  const Dilation2dAttrs attrs{*call.attrs};
  Dilation out{};
  const auto pair = [&](std::string_view what, const std::vector<int64_t>& given,
                        std::array<int64_t, 2>& to) -> Result<void> {
    if (given.size() != 2 || std::ranges::min(given) < 1 || std::ranges::max(given) > INT32_MAX)
      return opError(call,
                     fmt::format("{} is [{}]; expected two numbers from 1 on", what, fmt::join(given, ", ")));
    std::ranges::copy(given, to.begin());
    return success();
  };
  BATON_TRY(pair("strides", attrs.strides(), out.strides));
  BATON_TRY(pair("dilations", attrs.dilations(), out.dilations));
  const std::vector<int64_t>& padding = attrs.padding();
  const bool isFine = (padding.size() == 1 || padding.size() == 2 || padding.size() == 4) &&
                      std::ranges::min(padding) >= 0 && std::ranges::max(padding) <= INT32_MAX;
  if (!isFine)
    return opError(call, fmt::format("padding is [{}]; expected one, two or four numbers from 0 on",
                                     fmt::join(padding, ", ")));
  out.before = {padding[0], padding[padding.size() == 1 ? 0 : 1]};
  out.after = padding.size() == 4 ? std::array{padding[2], padding[3]} : out.before;
  const bool isPlanes = attrs.dataLayout() == "NCHW";
  if (!isPlanes && attrs.dataLayout() != "NHWC")
    return unknownValue(call, "data_layout", "\"NCHW\" or \"NHWC\"");
  if (attrs.kernelLayout() != "IHW" && (isPlanes || attrs.kernelLayout() != "HWI"))
    return unknownValue(call, "kernel_layout", isPlanes ? "\"IHW\"" : "\"IHW\" or \"HWI\"");
  out.axes = isPlanes ? std::array<size_t, 3>{1, 2, 3} : std::array<size_t, 3>{3, 1, 2};
  out.kernelAxes =
      attrs.kernelLayout() == "IHW" ? std::array<size_t, 3>{0, 1, 2} : std::array<size_t, 3>{2, 0, 1};
  return out;
}

DType dilationResult(const OpCall& call, DType data) {
  return Dilation2dAttrs{*call.attrs}.outDtype().value_or(data);
}

}  // namespace

Result<std::optional<StructureResult>> dilation2dStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(dilationOf(call));
  BATON_TRY(context.requireRank(0, 4));
  BATON_TRY(context.requireRank(1, 3));
  BATON_TRY(context.requireSameDType(0, 1));
  if (const std::optional<DType> given = Dilation2dAttrs{*call.attrs}.outDtype())
    BATON_TRY(context.provideResultDType(0, *given));
  else
    BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(dilationResult(call, *dtype), 4);
}

Result<std::vector<TensorDims>> dilation2dDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const Dilation dilation, dilationOf(call));
  TensorDims result{copyDims(context, 0)};
  const std::vector<DimExpr> kernel = copyDims(context, 1);
  DimExpr& channels = result.extents[dilation.axes[0]];
  context.blame(1);
  BATON_TRY_ASSIGN(channels, requireEqual(context, channels, kernel[dilation.kernelAxes[0]],
                                          "image.dilation2d: the data has {0} channels and the kernel {1}"));
  for (size_t i = 0; i < 2; ++i) {
    const DimExpr extent = kernel[dilation.kernelAxes[i + 1]];
    // The distance of the kernel's ends; of no elements as of one.
    const bool hasElements = context.decide(extent, Relation::Ge, one()) == Truth::True;
    const DimExpr reach = (hasElements ? extent - one() : max(extent - one(), DimExpr())) *
                          DimExpr::constant(dilation.dilations[i]);
    DimExpr& plane = result.extents[dilation.axes[i + 1]];
    const DimExpr padded = plane + DimExpr::constant(dilation.before[i] + dilation.after[i]);
    BATON_TRY(context.require(
        padded, Relation::Gt, reach,
        fmt::format(
            "image.dilation2d: a kernel that reaches over {{0}} places does not fit into dimension {} "
            "({{1}})",
            dilation.axes[i + 1]),
        {reach + one(), padded}));
    plane = floorDiv(padded - one() - reach, DimExpr::constant(dilation.strides[i])) + one();
  }
  return std::vector<TensorDims>{std::move(result)};
}

using loop::Value;

Result<Value> dilation2dElement(ElementContext& context, std::span<const Value> index) {
  BATON_TRY_ASSIGN(const Dilation dilation, dilationOf(context.call()));
  Emitter& emitter = context.emitter();
  const auto kernel = context.inputDims(1);
  const DimExpr extents[] = {kernel[dilation.kernelAxes[1]], kernel[dilation.kernelAxes[2]]};
  BATON_TRY_ASSIGN(
      const Value greatest,
      context.reduce(
          loop::ReduceOp::Max, extents, false, index, [&](std::span<const Value> vars) -> Result<Value> {
            std::vector<Value> at(index.begin(), index.end());
            std::vector<Value> in(3, index[dilation.axes[0]]);
            std::optional<Value> isThere;
            for (size_t i = 0; i < 2; ++i) {
              const size_t axis = dilation.axes[i + 1];
              const Value offset = emitter.sub(emitter.mul(vars[i], emitter.number(dilation.dilations[i])),
                                               emitter.number(dilation.before[i]));
              const Value wanted =
                  emitter.add(emitter.mul(index[axis], emitter.number(dilation.strides[i])), offset);
              const Value last = emitter.sub(emitter.dim(context.inputDims(0)[axis]), emitter.number(1));
              at[axis] = emitter.max(emitter.min(wanted, last), emitter.number(0));
              const Value here = loop::equal(at[axis], wanted) & (last >= emitter.number(0));
              isThere = isThere ? *isThere & here : here;
              in[dilation.kernelAxes[i + 1]] = vars[i];
            }
            in[dilation.kernelAxes[0]] = index[dilation.axes[0]];
            BATON_TRY_ASSIGN(const Value weight, context.read(1, in));
            // A plane without elements has nothing to read, whatever the padding.
            loop::Builder& b = context.builder();
            const Value wide = widen(weight);
            const DType type = wide.type();
            const double least = -std::numeric_limits<double>::infinity();
            const loop::LocalIndex sum = b.local(type);
            b.set(sum, b.constant(type, least));
            emitter.beginIf(*isThere);
            BATON_TRY_ASSIGN(const Value element, context.read(0, at));
            b.set(sum, widen(element) + wide);
            emitter.end();
            return b.get(sum);
          }));
  return loop::cast(greatest, context.wantedType());
}

namespace {

template <class T>
T leastOf() {
  if constexpr (std::is_floating_point_v<T>)
    return -std::numeric_limits<T>::infinity();
  else
    return std::numeric_limits<T>::min();
}
/// IEEE 754-2019 maximum.
template <class T>
T greaterOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) ? b : a;
  }
  return std::max(a, b);
}

template <class T>
void plainDilation(ReferenceCall& call, const Dilation& dilation, DType type) {
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    T greatest = leastOf<T>();
    forEachPosition(call.inputs[1].shape, [&](std::span<const int64_t> in) {
      if (in[dilation.kernelAxes[0]] != index[dilation.axes[0]]) return;
      std::vector<int64_t> at(index.begin(), index.end());
      for (size_t i = 0; i < 2; ++i) {
        int64_t& place = at[dilation.axes[i + 1]];
        place = place * dilation.strides[i] + in[dilation.kernelAxes[i + 1]] * dilation.dilations[i] -
                dilation.before[i];
        if (place < 0 || place >= call.extent(0, dilation.axes[i + 1])) return;
      }
      const auto load = [&](size_t input, std::span<const int64_t> where) {
        return scalarFromBits<T>(convertScalar(call.load(input, where), call.inputs[input].dtype, type));
      };
      T sum{};
      if constexpr (std::is_floating_point_v<T>)
        sum = load(0, at) + load(1, in);
      else
        sum = static_cast<T>(static_cast<uint64_t>(load(0, at)) + static_cast<uint64_t>(load(1, in)));
      greatest = greaterOf(greatest, sum);
    });
    call.store(0, index, convertScalar(scalarBits(greatest), type, call.results[0].dtype));
  });
}

}  // namespace

Result<void> dilation2dReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const Dilation dilation, dilationOf(call.call));
  const DType type = accumulationType(call.inputs[0].dtype);
  dispatchDType(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_arithmetic_v<T>) plainDilation<T>(call, dilation, type);
  });
  return success();
}

}  // namespace baton::ops

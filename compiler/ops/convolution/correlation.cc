// nn.correlation: what is around each place of a tensor, compared with places of another.
#include <cmath>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "compiler/ops/convolution/window.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

namespace {

/// Sizes and distances, so that their squares are extents.
constexpr int64_t kFarthest = 65535;

struct Correlation {
  int64_t size = 1;
  int64_t farthest = 1;
  int64_t stride1 = 1;
  int64_t stride2 = 1;
  bool multiplies = true;
  std::vector<WindowAxis> axes;  ///< H and W: padding, and places in the first operand
  int64_t radius() const { return farthest / stride2; }
  int64_t across() const { return 2 * radius() + 1; }  ///< places along an axis of the second operand
  DimExpr span() const { return DimExpr::constant(2 * farthest + size); }
};

Result<Correlation> correlationOf(const OpCall& call) {
  const CorrelationAttrs attrs{*call.attrs};
  Correlation out{attrs.kernelSize(), attrs.maxDisplacement(), attrs.stride1(),
                  attrs.stride2(),    attrs.isMultiply(),      {}};
  const std::tuple<std::string_view, int64_t, int64_t> numbers[] = {{"kernel_size", out.size, 1},
                                                                    {"max_displacement", out.farthest, 0},
                                                                    {"stride1", out.stride1, 1},
                                                                    {"stride2", out.stride2, 1}};
  for (const auto& [name, value, least] : numbers)
    if (value < least || value > kFarthest)
      return opError(call, fmt::format("{} is {}; expected {} to {}", name, value, least, kFarthest));
  if (out.size % 2 == 0)
    return opError(call, fmt::format("kernel_size is {}; expected an odd number", out.size));
  if (attrs.layout() != "NCHW")
    return opError(call, fmt::format("layout is \"{}\"; expected \"NCHW\"", attrs.layout()));
  BATON_TRY_ASSIGN(out.axes, paddedAxes(call));
  for (WindowAxis& axis : out.axes) axis.stride = out.stride1;
  return out;
}

}  // namespace

Result<std::optional<StructureResult>> correlationStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(correlationOf(call));
  for (const size_t input : {0, 1}) BATON_TRY(context.requireRank(input, 4));
  BATON_TRY(context.requireSameDType(0, 1));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 4);
}

Result<std::vector<TensorDims>> correlationDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const Correlation correlation, correlationOf(call));
  std::vector<DimExpr> data = copyDims(context, 0);
  const std::vector<DimExpr> other = copyDims(context, 1);
  context.blame(1);
  for (size_t axis = 0; axis < data.size(); ++axis) {
    BATON_TRY_ASSIGN(
        data[axis],
        requireEqual(context, data[axis], other[axis],
                     fmt::format("nn.correlation: dimension {} is {{0}} in the first operand and {{1}} in "
                                 "the second",
                                 axis)));
  }
  TensorDims result{{data[0], DimExpr::constant(correlation.across() * correlation.across())}};
  for (size_t i = 0; i < 2; ++i) {
    BATON_TRY_ASSIGN(DimExpr places, windowPlaces(call, context, correlation.axes[i], data[2 + i],
                                                  correlation.span(), false));
    result.extents.push_back(std::move(places));
  }
  return std::vector<TensorDims>{std::move(result)};
}

Result<loop::Value> correlationElement(ElementContext& context, std::span<const loop::Value> index) {
  using loop::Value;
  BATON_TRY_ASSIGN(const Correlation correlation, correlationOf(context.call()));
  Emitter& e = context.emitter();
  loop::Builder& b = context.builder();
  const auto dims = context.inputDims(0);
  const DType type = accumulationType(context.inputType(0));
  const DimExpr size = DimExpr::constant(correlation.size);
  const Value across = e.number(correlation.across());
  const Value moves[] = {e.floorDiv(index[1], across), e.floorMod(index[1], across)};
  /// The element of an operand, 0 in its padding.
  const auto read = [&](size_t input, std::span<const Value> vars) -> Result<Value> {
    std::vector<Value> at = {index[0], vars[0]};
    std::optional<Value> isInside;
    for (size_t i = 0; i < 2; ++i) {
      Value place = e.add(e.mul(index[2 + i], e.number(correlation.stride1)),
                          e.number(correlation.farthest - correlation.axes[i].before));
      if (input == 1)
        place = e.add(place,
                      e.mul(e.sub(moves[i], e.number(correlation.radius())), e.number(correlation.stride2)));
      at.push_back(e.add(place, vars[1 + i]));
      if (!correlation.axes[i].isPadded()) continue;
      const Value fits = (at.back() >= e.number(0)) & (at.back() < e.dim(dims[2 + i]));
      isInside = isInside ? *isInside & fits : fits;
    }
    if (!isInside) {
      BATON_TRY_ASSIGN(const Value value, context.read(input, at));
      return widen(value);
    }
    const loop::LocalIndex element = b.local(type);
    b.set(element, b.constant(type, 0));
    e.beginIf(*isInside);
    BATON_TRY_ASSIGN(const Value value, context.read(input, at));
    b.set(element, widen(value));
    e.end();
    return b.get(element);
  };
  const DimExpr extents[] = {dims[1], size, size};
  BATON_TRY_ASSIGN(const Value total, context.reduce(loop::ReduceOp::Sum, extents, true, index,
                                                     [&](std::span<const Value> vars) -> Result<Value> {
                                                       BATON_TRY_ASSIGN(const Value first, read(0, vars));
                                                       BATON_TRY_ASSIGN(const Value second, read(1, vars));
                                                       return correlation.multiplies
                                                                  ? first * second
                                                                  : loop::abs(first - second);
                                                     }));
  const Value count = loop::cast(e.dim(dims[1] * size * size), type);
  return loop::cast(total / count, context.wantedType());
}

namespace {

template <class T>
void plainCorrelation(ReferenceCall& call, const Correlation& correlation) {
  const DType type = call.inputs[0].dtype;
  const int64_t across = correlation.across();
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t moves[] = {index[1] / across - correlation.radius(),
                             index[1] % across - correlation.radius()};
    std::vector<T> terms;
    const int64_t window[] = {call.extent(0, 1), correlation.size, correlation.size};
    forEachPosition(window, [&](std::span<const int64_t> step) {
      T operands[2] = {};
      for (size_t input = 0; input < 2; ++input) {
        std::vector<int64_t> at = {index[0], step[0]};
        bool isInside = true;
        for (size_t i = 0; i < 2; ++i) {
          at.push_back(index[2 + i] * correlation.stride1 + correlation.farthest -
                       correlation.axes[i].before + (input == 1 ? moves[i] * correlation.stride2 : 0) +
                       step[1 + i]);
          isInside &= at.back() >= 0 && at.back() < call.extent(0, 2 + i);
        }
        if (isInside)
          operands[input] =
              scalarFromBits<T>(convertScalar(call.load(input, at), type, accumulationType(type)));
      }
      terms.push_back(correlation.multiplies ? operands[0] * operands[1]
                                             : std::abs(operands[0] - operands[1]));
    });
    const T mean = reduceInOrder(terms, T{0}, [](T a, T b) { return a + b; }) /
                   static_cast<T>(static_cast<int64_t>(terms.size()));
    call.store(0, index, convertScalar(scalarBits(mean), accumulationType(type), type));
  });
}

}  // namespace

Result<void> correlationReference(ReferenceCall& call) {
  BATON_TRY_ASSIGN(const Correlation correlation, correlationOf(call.call));
  if (call.inputs[0].dtype == DType::F64)
    plainCorrelation<double>(call, correlation);
  else
    plainCorrelation<float>(call, correlation);
  return success();
}

}  // namespace baton::ops

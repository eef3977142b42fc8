// vision.multibox_prior and vision.multibox_transform_loc: boxes around elements, and how they are decoded.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/ops/declarations.h"
#include "compiler/ops/image/plain_taps.h"
#include "compiler/ops/lowering/expand.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/relations.h"
#include "compiler/ops/vision/boxes.h"
#include "compiler/ops/vision/plain_boxes.h"
#include "kernels/loop/math/plain.h"

namespace baton::ops {

namespace {

/// Of a prior: its first factor and its ratio.
struct Prior {
  double size;
  double ratio;
};
std::vector<Prior> priorsOf(const OpCall& call) {
  const MultiboxPriorAttrs attrs{*call.attrs};
  std::vector<Prior> priors;
  for (const double size : attrs.sizes()) priors.push_back({size, 1});
  for (size_t i = 1; i < attrs.ratios().size(); ++i) priors.push_back({attrs.sizes()[0], attrs.ratios()[i]});
  return priors;
}

}  // namespace

Result<std::optional<StructureResult>> multiboxPriorStructure(const OpCall& call, StructureContext& context) {
  const MultiboxPriorAttrs attrs{*call.attrs};
  for (const auto& [name, list] : {std::pair("sizes", &attrs.sizes()), std::pair("ratios", &attrs.ratios())})
    if (list->empty() || list->size() > 4096)
      return opError(call, fmt::format("there are {} {}; expected 1 to 4096", list->size(), name));
  for (const auto& [name, list] :
       {std::pair("steps", &attrs.steps()), std::pair("offsets", &attrs.offsets())})
    if (list->size() != 2)
      return opError(call, fmt::format("there are {} {}; expected 2", list->size(), name));
  BATON_TRY(context.requireRank(0, 4));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 3);
}
Result<std::vector<TensorDims>> multiboxPriorDims(const OpCall& call, DimsContext& context) {
  const DimExpr boxes[] = {context.dims(0)[2], context.dims(0)[3],
                           DimExpr::constant(static_cast<int64_t>(priorsOf(call).size()))};
  return std::vector<TensorDims>{{{one(), product(boxes), DimExpr::constant(4)}}};
}

using loop::Value;

Result<Value> multiboxPriorElement(ElementContext& context, std::span<const Value> index) {
  const MultiboxPriorAttrs attrs{*context.call().attrs};
  const std::vector<Prior> priors = priorsOf(context.call());
  Emitter& emitter = context.emitter();
  const DType type = blendType(context.inputType(0));
  const auto c = [&](double value) { return context.builder().constant(type, value); };
  const Value count = emitter.number(static_cast<int64_t>(priors.size()));
  const Value k = emitter.floorMod(index[1], count);
  const Value place = emitter.floorDiv(index[1], count);
  const Value columns = emitter.dim(context.inputDims(0)[3]);
  const Value height = loop::cast(emitter.dim(context.inputDims(0)[2]), type);
  const Value width = loop::cast(columns, type);
  const auto middle = [&](Value at, Value extent, size_t axis) {
    const double step = attrs.steps()[axis];
    return (loop::cast(at, type) + c(attrs.offsets()[axis])) * (step > 0 ? c(step) : c(1) / extent);
  };
  const Value x = middle(emitter.floorMod(place, columns), width, 1);
  const Value y = middle(emitter.floorDiv(place, columns), height, 0);
  Value size = c(priors[0].size);
  Value root = loop::sqrt(c(priors[0].ratio));
  for (size_t i = 1; i < priors.size(); ++i) {
    const Value isHere = loop::equal(k, emitter.number(static_cast<int64_t>(i)));
    size = loop::select(isHere, c(priors[i].size), size);
    root = loop::select(isHere, loop::sqrt(c(priors[i].ratio)), root);
  }
  const Value halfWidth = size * height / width * root / c(2);
  const Value halfHeight = size / root / c(2);
  const auto isCorner = [&](int64_t i) { return loop::equal(index[2], emitter.number(i)); };
  Value result = loop::select(
      isCorner(0), x - halfWidth,
      loop::select(isCorner(1), y - halfHeight, loop::select(isCorner(2), x + halfWidth, y + halfHeight)));
  if (attrs.clip()) result = loop::max(loop::min(result, c(1)), c(0));
  return loop::cast(result, context.wantedType());
}

namespace {

template <class T>
T unitClipped(T value) {
  return std::isnan(value) ? value : std::clamp(value, T{0}, T{1});
}

template <class T>
void plainPriors(ReferenceCall& call) {
  const MultiboxPriorAttrs attrs{*call.call.attrs};
  const int64_t shape[] = {call.extent(0, 2), call.extent(0, 3)};
  const T height = static_cast<T>(shape[0]);
  const T width = static_cast<T>(shape[1]);
  int64_t linear = 0;
  forEachPosition(shape, [&](std::span<const int64_t> at) {
    const auto middle = [&](size_t axis, T extent) {
      const double step = attrs.steps()[axis];
      return (static_cast<T>(at[axis]) + static_cast<T>(attrs.offsets()[axis])) *
             (step > 0 ? static_cast<T>(step) : 1 / extent);
    };
    const T x = middle(1, width);
    const T y = middle(0, height);
    for (const Prior& prior : priorsOf(call.call)) {
      const T root = std::sqrt(static_cast<T>(prior.ratio));
      const T w = static_cast<T>(prior.size) * height / width * root / 2;
      const T h = static_cast<T>(prior.size) / root / 2;
      for (const T corner : {x - w, y - h, x + w, y + h})
        plainStore(call, 0, linear++, attrs.clip() ? unitClipped(corner) : corner);
    }
  });
}

Result<void> checkMultibox(const OpCall& call, StructureContext& context) {
  if (const size_t count = MultiboxAttrs{*call.attrs}.variances().size(); count != 4)
    return opError(call, fmt::format("there are {} variances; expected 4", count));
  BATON_TRY(context.requireRank(0, 3));
  BATON_TRY(context.requireRank(1, 2));
  BATON_TRY(context.requireRank(2, 3));
  BATON_TRY(context.requireSameDType(0, 1));
  return context.requireSameDType(0, 2);
}

/// Batches and boxes.
Result<std::pair<DimExpr, DimExpr>> multiboxExtents(const OpCall& call, DimsContext& context) {
  const std::vector<DimExpr> classes = copyDims(context, 0);
  const auto require = [&](size_t input, size_t axis, const DimExpr& extent) -> Result<void> {
    context.blame(input);
    BATON_TRY(requireEqual(context, context.dims(input)[axis], extent,
                           fmt::format("{}: dimension {} of the {} is {{0}}; expected {{1}}", call.op->name,
                                       axis, call.op->inputs[input].name)));
    return success();
  };
  BATON_TRY(require(1, 0, classes[0]));
  BATON_TRY(require(1, 1, classes[2] * DimExpr::constant(4)));
  BATON_TRY(require(2, 0, one()));
  BATON_TRY(require(2, 1, classes[2]));
  BATON_TRY(require(2, 2, DimExpr::constant(4)));
  return std::pair(classes[0], classes[2]);
}

}  // namespace

Result<void> multiboxPriorReference(ReferenceCall& call) {
  call.inputs[0].dtype == DType::F64 ? plainPriors<double>(call) : plainPriors<float>(call);
  return success();
}

Result<std::optional<StructureResult>> multiboxDecodeStructure(const OpCall& call,
                                                               StructureContext& context) {
  BATON_TRY(checkMultibox(call, context));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 3);
}
Result<std::vector<TensorDims>> multiboxDecodeDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const auto extents, multiboxExtents(call, context));
  return std::vector<TensorDims>{{{extents.first, extents.second, DimExpr::constant(6)}}};
}
Result<std::optional<StructureResult>> multiboxTransformLocStructure(const OpCall& call,
                                                                     StructureContext& context) {
  BATON_TRY(checkMultibox(call, context));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return StructureResult{{{*dtype, 3}, {DType::I32, 1}}, true};
}
Result<std::vector<TensorDims>> multiboxTransformLocDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const auto extents, multiboxExtents(call, context));
  return std::vector<TensorDims>{{{extents.first, extents.second, DimExpr::constant(6)}}, {{extents.first}}};
}

Result<void> multiboxTransformLocLegal(ExpandContext& context) {
  BATON_TRY_ASSIGN(const TensorId decoded,
                   context.make("vision.multibox_decode", *context.call().attrs,
                                {context.input(0), context.input(1), context.input(2)}));
  BATON_TRY_ASSIGN(const TensorId rows, asKernelType(context, decoded));
  BATON_TRY_ASSIGN(
      const std::vector<TensorId> made,
      context.makeAll("library.valid_counts", {},
                      {rows, context.scalar(DType::F64, -std::numeric_limits<double>::infinity()),
                       context.scalar(DType::I64, 0), context.scalar(DType::I64, 1)}));
  BATON_TRY_ASSIGN(const TensorId kept, context.cast(made[1], context.resultType(0)));
  context.become({kept, made[0]});
  return success();
}

Result<Value> multiboxDecodeElement(ElementContext& context, std::span<const Value> index) {
  const MultiboxAttrs attrs{*context.call().attrs};
  Emitter& emitter = context.emitter();
  loop::Builder& b = context.builder();
  const DType type = blendType(context.inputType(0));
  const auto c = [&](double value) { return b.constant(type, value); };
  const auto read = [&](size_t input, std::initializer_list<Value> at) -> Result<Value> {
    BATON_TRY_ASSIGN(const Value given, context.read(input, at));
    return loop::cast(given, type);
  };
  const Value batch = index[0];
  const Value box = index[1];
  // The likeliest class.
  const int64_t first = attrs.keepBackground() ? 0 : 1;
  const loop::LocalIndex best = b.local(type);
  const loop::LocalIndex klass = b.local(DType::I64);
  b.set(best, c(-1));
  const Value classes = emitter.max(emitter.sub(emitter.dim(context.inputDims(0)[1]), emitter.number(first)),
                                    emitter.number(0));
  const Value step = emitter.beginLoop(loop::LoopKind::Serial, classes);
  const Value candidate = emitter.add(step, emitter.number(first));
  BATON_TRY_ASSIGN(const Value likely, read(0, {batch, candidate, box}));
  const Value before = b.get(best);
  const Value isBetter = likely > before;
  b.set(klass, loop::select(isBetter, candidate, b.get(klass)));
  b.set(best, loop::select(isBetter, likely, before));
  emitter.end();
  const Value score = b.get(best);
  const Value zero = emitter.number(0);
  const Value found = loop::select(score < c(attrs.threshold()), zero, b.get(klass));
  const Value id = loop::cast(attrs.keepBackground() ? found : emitter.sub(found, emitter.number(1)), type);
  std::vector<Value> row = {id, score};
  std::vector<Value> ends;
  for (int64_t axis = 0; axis < 2; ++axis) {
    const Value four = emitter.mul(box, emitter.number(4));
    const auto part = [&](int64_t i) { return emitter.number(axis + i); };
    BATON_TRY_ASSIGN(const Value low, read(2, {zero, box, part(0)}));
    BATON_TRY_ASSIGN(const Value high, read(2, {zero, box, part(2)}));
    BATON_TRY_ASSIGN(const Value move, read(1, {batch, emitter.add(four, part(0))}));
    BATON_TRY_ASSIGN(const Value grow, read(1, {batch, emitter.add(four, part(2))}));
    const auto variance = [&](int64_t i) { return c(attrs.variances()[static_cast<size_t>(axis + i)]); };
    const Value extent = high - low;
    const Value middle = move * variance(0) * extent + (low + high) / c(2);
    const Value reach = loop::exp(grow * variance(2)) * extent / c(2);
    row.push_back(middle - reach);
    ends.push_back(middle + reach);
  }
  row.insert(row.end(), ends.begin(), ends.end());
  if (attrs.clip())
    for (size_t i = 2; i < 6; ++i) row[i] = loop::max(loop::min(row[i], c(1)), c(0));
  Value result = row[0];
  for (size_t i = 1; i < 6; ++i)
    result = loop::select(loop::equal(index[2], emitter.number(static_cast<int64_t>(i))), row[i], result);
  return loop::cast(result, context.wantedType());
}

namespace {

/// The row of a box, rounded to the type of the data.
template <class T>
std::array<T, 6> plainDecoded(const ReferenceCall& call, int64_t batch, int64_t box) {
  const MultiboxAttrs attrs{*call.call.attrs};
  const int64_t classes = call.extent(0, 1);
  const int64_t boxes = call.extent(0, 2);
  T score = -1;
  int64_t klass = 0;
  for (int64_t k = attrs.keepBackground() ? 0 : 1; k < classes; ++k)
    if (const T likely = plainElement<T>(call, 0, (batch * classes + k) * boxes + box); likely > score) {
      score = likely;
      klass = k;
    }
  if (score < static_cast<T>(attrs.threshold())) klass = 0;
  std::array<T, 6> row = {static_cast<T>(attrs.keepBackground() ? klass : klass - 1), score};
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto at = static_cast<int64_t>(axis);
    const T low = plainElement<T>(call, 2, 4 * box + at);
    const T high = plainElement<T>(call, 2, 4 * box + at + 2);
    const T move = plainElement<T>(call, 1, (batch * boxes + box) * 4 + at);
    const T grow = plainElement<T>(call, 1, (batch * boxes + box) * 4 + at + 2);
    const T middle = move * static_cast<T>(attrs.variances()[axis]) * (high - low) + (low + high) / 2;
    const T reach = math::exp(grow * static_cast<T>(attrs.variances()[axis + 2])) * (high - low) / 2;
    row[axis + 2] = attrs.clip() ? unitClipped(middle - reach) : middle - reach;
    row[axis + 4] = attrs.clip() ? unitClipped(middle + reach) : middle + reach;
  }
  const DType type = call.inputs[0].dtype;
  const DType wide = blendType(type);
  for (T& value : row)
    value = scalarFromBits<T>(convertScalar(convertScalar(scalarBits(value), wide, type), type, wide));
  return row;
}

template <class T>
void plainMultibox(ReferenceCall& call, bool isDecode) {
  for (int64_t batch = 0; batch < call.extent(0, 0); ++batch) {
    const int64_t boxes = call.extent(0, 2);
    int64_t count = 0;
    const auto put = [&](const std::array<T, 6>& row) {
      for (size_t c = 0; c < 6; ++c)
        plainStore(call, 0, (batch * boxes + count) * 6 + static_cast<int64_t>(c), row[c]);
      ++count;
    };
    for (int64_t box = 0; box < boxes; ++box)
      if (const std::array<T, 6> row = plainDecoded<T>(call, batch, box); isDecode || row[0] >= 0) put(row);
    if (isDecode) continue;
    plainStore(call, 1, batch, count);
    while (count < boxes) put({-1, -1, -1, -1, -1, -1});
  }
}

Result<void> multiboxReference(ReferenceCall& call, bool isDecode) {
  call.inputs[0].dtype == DType::F64 ? plainMultibox<double>(call, isDecode)
                                     : plainMultibox<float>(call, isDecode);
  return success();
}

}  // namespace

Result<void> multiboxDecodeReference(ReferenceCall& call) { return multiboxReference(call, true); }
Result<void> multiboxTransformLocReference(ReferenceCall& call) { return multiboxReference(call, false); }

}  // namespace baton::ops

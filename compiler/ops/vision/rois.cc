// vision.roi_align and vision.roi_pool: what a tensor holds at boxes.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "compiler/ops/arrange/position.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/image/plain_taps.h"
#include "compiler/ops/image/spatial_axes.h"
#include "compiler/ops/image/taps.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/reduction/reduction_order.h"
#include "compiler/ops/relations.h"
#include "compiler/ops/vision/plain_boxes.h"

namespace baton::ops {

namespace {

/// Which axes are the boxes (batches in the data), the height and the width.
std::array<size_t, 3> roiAxes(const OpCall& call) {
  return call.attrs->stringOf("layout") == "NCHW" ? std::array<size_t, 3>{0, 2, 3}
                                                  : std::array<size_t, 3>{0, 1, 2};
}

/// Along each side of a bin.
constexpr int64_t kMostPlaces = 4096;

}  // namespace

Result<std::optional<StructureResult>> roiStructure(const OpCall& call, StructureContext& context) {
  const std::vector<int64_t>& size = call.attrs->intsOf("pooled_size");
  if (size.size() != 2 || std::ranges::min(size) < 1 || std::ranges::max(size) > INT32_MAX)
    return opError(call,
                   fmt::format("pooled_size is [{}]; expected two extents from 1 on", fmt::join(size, ", ")));
  const std::string& layout = call.attrs->stringOf("layout");
  if (layout != "NCHW" && layout != "NHWC") return unknownValue(call, "layout", "\"NCHW\" or \"NHWC\"");
  if (call.op->name == "vision.roi_align") {
    const RoiAlignAttrs attrs{*call.attrs};
    if (attrs.mode() != "avg" && attrs.mode() != "max")
      return unknownValue(call, "mode", "\"avg\" or \"max\"");
    if (attrs.sampleRatio() > kMostPlaces)
      return opError(
          call, fmt::format("sample_ratio is {}; expected at most {}", attrs.sampleRatio(), kMostPlaces));
  }
  BATON_TRY(context.requireRank(0, 4));
  BATON_TRY(context.requireRank(1, 2));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 4);
}
Result<std::vector<TensorDims>> roiDims(const OpCall& call, DimsContext& context) {
  const std::vector<int64_t>& size = call.attrs->intsOf("pooled_size");
  const std::array<size_t, 3> axes = roiAxes(call);
  context.blame(1);
  BATON_TRY(context.require(context.dims(1)[1], Relation::Eq, DimExpr::constant(5),
                            fmt::format("{}: a box has {{0}} elements; expected {{1}}", call.op->name)));
  const DimExpr boxes = context.dims(1)[0];
  TensorDims result{copyDims(context, 0)};
  for (size_t i = 0; i < 3; ++i) {
    BATON_TRY(requireElements(call, context, 0, axes[i], boxes));
    result.extents[axes[i]] = i == 0 ? boxes : DimExpr::constant(size[i - 1]);
  }
  return std::vector<TensorDims>{std::move(result)};
}

namespace {

using loop::Value;

/// Element `i` of the box of an element, in the type that is computed in.
Result<Value> roiElement(ElementContext& context, Value box, int64_t i, DType type) {
  BATON_TRY_ASSIGN(const Value given, context.read(1, {box, context.emitter().number(i)}));
  return loop::cast(given, type);
}

/// Which of the batches, checked.
Result<Value> roiBatch(ElementContext& context, Value box, DType type) {
  BATON_TRY_ASSIGN(const Value given, roiElement(context, box, 0, type));
  return position(context, loop::cast(given, DType::I64), context.emitter().dim(context.inputDims(0)[0]),
                  "fast");
}

/// Nothing where it is out of range.
template <class T>
std::optional<int64_t> plainRoiBatch(const ReferenceCall& call, int64_t box) {
  const T given = plainElement<T>(call, 1, box * 5);
  const uint64_t bits =
      convertScalar(scalarBits(given), sizeof(T) == 8 ? DType::F64 : DType::F32, DType::I64);
  return plainPosition(bits, DType::I64, call.extent(0, 0), "fast");
}

}  // namespace

Result<Value> roiAlignElement(ElementContext& context, std::span<const Value> index) {
  const RoiAlignAttrs attrs{*context.call().attrs};
  const std::array<size_t, 3> axes = roiAxes(context.call());
  Emitter& emitter = context.emitter();
  const DType type = blendType(context.inputType(0));
  const auto c = [&](double value) { return context.builder().constant(type, value); };
  const Value box = index[axes[0]];
  std::vector<Value> at(index.begin(), index.end());
  BATON_TRY_ASSIGN(at[axes[0]], roiBatch(context, box, type));
  std::vector<Value> starts;
  std::vector<Value> bins;
  std::vector<Value> counts;
  for (size_t i = 0; i < 2; ++i) {
    // Boxes are x1, y1, x2, y2.
    BATON_TRY_ASSIGN(const Value from, roiElement(context, box, i == 0 ? 2 : 1, type));
    BATON_TRY_ASSIGN(const Value to, roiElement(context, box, i == 0 ? 4 : 3, type));
    const Value scale = c(attrs.spatialScale());
    const Value start = from * scale;
    const Value extent = loop::max(to * scale - start, c(1));
    const Value bin = extent / c(static_cast<double>(attrs.pooledSize()[i]));
    starts.push_back(start + loop::cast(index[axes[i + 1]], type) * bin);
    bins.push_back(bin);
    counts.push_back(attrs.sampleRatio() > 0
                         ? emitter.number(attrs.sampleRatio())
                         : emitter.min(wholePart(loop::ceil(bin)), emitter.number(kMostPlaces)));
  }
  const bool isMean = attrs.mode() == "avg";
  const std::vector<Value> vars =
      emitter.beginReduce(isMean ? loop::ReduceOp::Sum : loop::ReduceOp::Max, counts);
  std::vector<Taps> taps;
  std::optional<Value> outside;
  for (size_t i = 0; i < 2; ++i) {
    const Value extent = emitter.dim(context.inputDims(0)[axes[i + 1]]);
    const Value count = loop::cast(extent, type);
    const Value place =
        starts[i] + (loop::cast(vars[i], type) + c(0.5)) * bins[i] / loop::cast(counts[i], type);
    const Value here = (place < c(-1)) | (place > count);
    outside = outside ? *outside | here : here;
    taps.push_back(linearTaps(emitter, loop::min(loop::max(place, c(0)), count - c(1)), extent, type));
  }
  BATON_TRY_ASSIGN(const Value value, interpolated(context, at, std::span(axes).subspan(1), taps, type));
  const Value reduced = emitter.endReduce(loop::select(*outside, c(0), value));
  const Value result = isMean ? reduced / loop::cast(counts[0] * counts[1], type) : reduced;
  return loop::cast(result, context.wantedType());
}

namespace {

template <class T>
PlainTaps plainRoiTaps(T place, int64_t extent) {
  const T floored = std::floor(place);
  const int64_t whole = plainWhole(floored);
  return {{plainClamped(whole, extent), T{1} - (place - floored)},
          {plainClamped(whole + 1, extent), place - floored}};
}

template <class T>
bool plainRoiAlign(ReferenceCall& call) {
  const RoiAlignAttrs attrs{*call.call.attrs};
  const std::array<size_t, 3> axes = roiAxes(call.call);
  const DType type = blendType(call.inputs[0].dtype);
  const auto scale = static_cast<T>(attrs.spatialScale());
  bool isFine = true;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t box = index[axes[0]];
    const std::optional<int64_t> batch = plainRoiBatch<T>(call, box);
    isFine = isFine && batch;
    std::vector<int64_t> at(index.begin(), index.end());
    at[axes[0]] = batch.value_or(0);
    T starts[2];
    T bins[2];
    int64_t counts[2];
    for (size_t i = 0; i < 2; ++i) {
      const T start = plainElement<T>(call, 1, box * 5 + (i == 0 ? 2 : 1)) * scale;
      T extent = plainElement<T>(call, 1, box * 5 + (i == 0 ? 4 : 3)) * scale - start;
      if (extent < 1) extent = 1;
      bins[i] = extent / static_cast<T>(attrs.pooledSize()[i]);
      starts[i] = start + static_cast<T>(index[axes[i + 1]]) * bins[i];
      counts[i] = attrs.sampleRatio() > 0 ? attrs.sampleRatio()
                                          : std::min(plainWhole(std::ceil(bins[i])), kMostPlaces);
    }
    std::vector<T> values;
    for (int64_t a = 0; a < counts[0]; ++a)
      for (int64_t b = 0; b < counts[1]; ++b) {
        std::vector<PlainTaps> taps;
        bool isOutside = false;
        for (size_t i = 0; i < 2; ++i) {
          const int64_t extent = call.extent(0, axes[i + 1]);
          const T place =
              starts[i] + (static_cast<T>(i == 0 ? a : b) + T{0.5}) * bins[i] / static_cast<T>(counts[i]);
          isOutside = isOutside || place < -1 || place > static_cast<T>(extent);
          const T last = static_cast<T>(extent) - 1;
          taps.push_back(plainRoiTaps(std::isnan(place) ? place : std::clamp(place, T{0}, last), extent));
        }
        values.push_back(isOutside ? T{0}
                                   : plainBlended<T>(call, at, std::span(axes).subspan(1), taps, type));
      }
    T result = 0;
    if (attrs.mode() == "avg") {
      result =
          reduceInOrder(values, T{0}, [](T x, T y) { return x + y; }) / static_cast<T>(counts[0] * counts[1]);
    } else {
      result = -std::numeric_limits<T>::infinity();
      for (const T value : values) result = plainMaximum(result, value);
    }
    call.store(0, index, convertScalar(scalarBits(result), type, call.results[0].dtype));
  });
  return isFine;
}

}  // namespace

Result<void> roiAlignReference(ReferenceCall& call) {
  const bool isFine =
      call.inputs[0].dtype == DType::F64 ? plainRoiAlign<double>(call) : plainRoiAlign<float>(call);
  if (!isFine) return programError(call.call, "an index is out of range");
  return success();
}

Result<Value> roiPoolElement(ElementContext& context, std::span<const Value> index) {
  const RoiPoolAttrs attrs{*context.call().attrs};
  const std::array<size_t, 3> axes = roiAxes(context.call());
  Emitter& emitter = context.emitter();
  const DType type = blendType(context.inputType(0));
  const Value box = index[axes[0]];
  const Value zero = emitter.number(0);
  const Value one = emitter.number(1);
  std::vector<Value> at(index.begin(), index.end());
  BATON_TRY_ASSIGN(at[axes[0]], roiBatch(context, box, type));
  std::vector<Value> firsts;
  std::vector<Value> counts;
  for (size_t i = 0; i < 2; ++i) {
    const auto corner = [&](int64_t which) -> Result<Value> {
      BATON_TRY_ASSIGN(const Value given, roiElement(context, box, which, type));
      const Value scaled = given * context.builder().constant(type, attrs.spatialScale());
      const Value rounded = roundedPlace(loop::abs(scaled), "round");
      return wholePart(loop::select(scaled < context.builder().constant(type, 0), -rounded, rounded));
    };
    BATON_TRY_ASSIGN(const Value start, corner(i == 0 ? 2 : 1));
    BATON_TRY_ASSIGN(const Value end, corner(i == 0 ? 4 : 3));
    const Value extent = emitter.max(emitter.add(emitter.sub(end, start), one), one);
    const Value bins = emitter.number(attrs.pooledSize()[i]);
    const Value last = emitter.dim(context.inputDims(0)[axes[i + 1]]);
    const auto inside = [&](Value place) {
      return emitter.max(emitter.min(emitter.add(place, start), last), zero);
    };
    const Value bin = index[axes[i + 1]];
    const Value from = inside(emitter.floorDiv(emitter.mul(bin, extent), bins));
    const Value behind =
        emitter.floorDiv(emitter.sub(zero, emitter.mul(emitter.add(bin, one), extent)), bins);
    const Value to = inside(emitter.sub(zero, behind));
    firsts.push_back(from);
    counts.push_back(emitter.max(emitter.sub(to, from), zero));
  }
  const std::vector<Value> vars = emitter.beginReduce(loop::ReduceOp::Max, counts);
  for (size_t i = 0; i < 2; ++i) at[axes[i + 1]] = emitter.add(firsts[i], vars[i]);
  BATON_TRY_ASSIGN(const Value element, context.read(0, at));
  const Value greatest = emitter.endReduce(widen(element));
  const Value isEmpty = loop::equal(emitter.min(counts[0], counts[1]), zero);
  return loop::cast(loop::select(isEmpty, context.builder().constant(greatest.type(), 0), greatest),
                    context.wantedType());
}

namespace {

template <class T>
bool plainRoiPool(ReferenceCall& call) {
  const RoiPoolAttrs attrs{*call.call.attrs};
  const std::array<size_t, 3> axes = roiAxes(call.call);
  const DType type = blendType(call.inputs[0].dtype);
  bool isFine = true;
  forEachPosition(call.results[0].shape, [&](std::span<const int64_t> index) {
    const int64_t box = index[axes[0]];
    const std::optional<int64_t> batch = plainRoiBatch<T>(call, box);
    isFine = isFine && batch;
    int64_t from[2];
    int64_t to[2];
    for (size_t i = 0; i < 2; ++i) {
      const auto corner = [&](int64_t which) {
        const T scaled = plainElement<T>(call, 1, box * 5 + which) * static_cast<T>(attrs.spatialScale());
        return plainWhole(std::round(scaled));
      };
      const int64_t start = corner(i == 0 ? 2 : 1);
      const int64_t extent = std::max<int64_t>(corner(i == 0 ? 4 : 3) - start + 1, 1);
      const int64_t bins = attrs.pooledSize()[i];
      const int64_t bin = index[axes[i + 1]];
      const int64_t last = call.extent(0, axes[i + 1]);
      from[i] = std::clamp<int64_t>(bin * extent / bins + start, 0, last);
      to[i] = std::clamp<int64_t>(((bin + 1) * extent + bins - 1) / bins + start, 0, last);
    }
    T greatest = -std::numeric_limits<T>::infinity();
    std::vector<int64_t> at(index.begin(), index.end());
    at[axes[0]] = batch.value_or(0);
    bool isEmpty = true;
    for (int64_t y = from[0]; y < to[0]; ++y)
      for (int64_t x = from[1]; x < to[1]; ++x) {
        at[axes[1]] = y;
        at[axes[2]] = x;
        const T value = scalarFromBits<T>(convertScalar(call.load(0, at), call.inputs[0].dtype, type));
        greatest = plainMaximum(greatest, value);
        isEmpty = false;
      }
    call.store(0, index, convertScalar(scalarBits(isEmpty ? T{0} : greatest), type, call.results[0].dtype));
  });
  return isFine;
}

}  // namespace

Result<void> roiPoolReference(ReferenceCall& call) {
  const bool isFine =
      call.inputs[0].dtype == DType::F64 ? plainRoiPool<double>(call) : plainRoiPool<float>(call);
  if (!isFine) return programError(call.call, "an index is out of range");
  return success();
}

}  // namespace baton::ops

// vision.proposal: anchors moved as is predicted, and the best of them.
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

/// Left, top, right and bottom around the first element, for each ratio and each scale.
std::vector<PlainCorners<double>> anchorsOf(const OpCall& call) {
  const auto stride = static_cast<double>(call.attrs->intOf("feature_stride"));
  const double middle = 0.5 * (stride - 1);
  std::vector<PlainCorners<double>> anchors;
  for (const double ratio : call.attrs->floatsOf("ratios"))
    for (const double scale : call.attrs->floatsOf("scales")) {
      const double side = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5);
      const double width = side * scale;
      const double height = std::floor(side * ratio + 0.5) * scale;
      anchors.push_back({middle - 0.5 * (width - 1), middle - 0.5 * (height - 1), middle + 0.5 * (width - 1),
                         middle + 0.5 * (height - 1)});
    }
  return anchors;
}

Result<void> checkAnchors(const OpCall& call, StructureContext& context) {
  for (const std::string_view name : {"scales", "ratios"})
    if (call.attrs->floatsOf(name).empty() || call.attrs->floatsOf(name).size() > 4096)
      return opError(
          call, fmt::format("there are {} {}; expected 1 to 4096", call.attrs->floatsOf(name).size(), name));
  if (const int64_t stride = call.attrs->intOf("feature_stride"); stride < 1 || stride > INT32_MAX)
    return opError(call, fmt::format("feature_stride is {}; expected 1 to {}", stride, INT32_MAX));
  BATON_TRY(context.requireRank(0, 4));
  BATON_TRY(context.requireRank(1, 4));
  BATON_TRY(context.requireRank(2, 2));
  BATON_TRY(context.requireSameDType(0, 1));
  return context.requireSameDType(0, 2);
}

struct AnchorGrid {
  DimExpr batches, height, width, count;
};
Result<AnchorGrid> anchorGrid(const OpCall& call, DimsContext& context) {
  const auto count =
      static_cast<int64_t>(call.attrs->floatsOf("scales").size() * call.attrs->floatsOf("ratios").size());
  const auto require = [&](size_t input, size_t axis, const DimExpr& extent) -> Result<DimExpr> {
    context.blame(input);
    return requireEqual(context, context.dims(input)[axis], extent,
                        fmt::format("{}: dimension {} of the {} is {{0}}; expected {{1}}", call.op->name,
                                    axis, call.op->inputs[input].name));
  };
  const std::vector<DimExpr> data = copyDims(context, 0);
  BATON_TRY(require(0, 1, DimExpr::constant(2 * count)));
  BATON_TRY(require(1, 1, DimExpr::constant(4 * count)));
  BATON_TRY(require(1, 0, data[0]));
  BATON_TRY(require(1, 2, data[2]));
  BATON_TRY(require(1, 3, data[3]));
  BATON_TRY(require(2, 0, data[0]));
  BATON_TRY(require(2, 1, DimExpr::constant(3)));
  return AnchorGrid{data[0], data[2], data[3], DimExpr::constant(count)};
}

}  // namespace

Result<std::optional<StructureResult>> proposalBoxesStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(checkAnchors(call, context));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 3);
}
Result<std::vector<TensorDims>> proposalBoxesDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const AnchorGrid grid, anchorGrid(call, context));
  const DimExpr boxes[] = {grid.height, grid.width, grid.count};
  return std::vector<TensorDims>{{{grid.batches, product(boxes), DimExpr::constant(5)}}};
}

Result<std::optional<StructureResult>> proposalStructure(const OpCall& call, StructureContext& context) {
  BATON_TRY(checkAnchors(call, context));
  const int64_t wanted = ProposalAttrs{*call.attrs}.rpnPostNmsTopN();
  if (wanted < 0 || wanted > INT32_MAX)
    return opError(call, fmt::format("rpn_post_nms_top_n is {}; expected 0 to {}", wanted, INT32_MAX));
  BATON_TRY(context.provideResultDTypeOf(0, 0));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 2);
}
Result<std::vector<TensorDims>> proposalDims(const OpCall& call, DimsContext& context) {
  BATON_TRY_ASSIGN(const AnchorGrid grid, anchorGrid(call, context));
  const DimExpr wanted = DimExpr::constant(ProposalAttrs{*call.attrs}.rpnPostNmsTopN());
  return std::vector<TensorDims>{{{grid.batches * wanted, DimExpr::constant(5)}}};
}

Result<std::optional<StructureResult>> libraryProposalStructure(const OpCall&, StructureContext& context) {
  BATON_TRY(context.requireRank(0, 3));
  for (size_t scalar = 1; scalar < 4; ++scalar) BATON_TRY(context.requireRank(scalar, 0));
  BATON_TRY(context.requireDType(1, DType::I64));
  BATON_TRY(context.requireDType(2, DType::I64));
  BATON_TRY(context.requireDType(3, DType::F64));
  const std::optional<DType> dtype = context.dtype(0);
  if (!dtype) return std::nullopt;
  return oneResult(*dtype, 2);
}
Result<std::vector<TensorDims>> libraryProposalDims(const OpCall&, DimsContext& context) {
  context.blame(0);
  BATON_TRY(context.require(context.dims(0)[2], Relation::Eq, DimExpr::constant(5),
                            "library.proposal: a box has {0} elements; expected {1}"));
  const DimExpr wanted = (*context.valuesOrSymbols(2))[0];
  BATON_TRY(context.require(wanted, Relation::Ge, DimExpr(),
                            "library.proposal: a negative number of boxes is wanted ({0})"));
  return std::vector<TensorDims>{{{context.dims(0)[0] * wanted, DimExpr::constant(5)}}};
}

Result<void> proposalLegal(ExpandContext& context) {
  const ProposalAttrs attrs{*context.call().attrs};
  ir::Attrs own;
  for (const std::string_view name : {"scales", "ratios", "feature_stride", "rpn_min_size", "iou_loss"})
    own.set(name, *context.call().attrs->find(name));
  BATON_TRY_ASSIGN(
      const TensorId boxes,
      context.make("vision.proposal_boxes", own, {context.input(0), context.input(1), context.input(2)}));
  BATON_TRY_ASSIGN(const TensorId rows, asKernelType(context, boxes));
  const auto number = [&](int64_t value) {
    return context.scalar(DType::I64, static_cast<double>(std::max<int64_t>(value, 0)));
  };
  BATON_TRY_ASSIGN(const TensorId chosen,
                   context.make("library.proposal", {},
                                {rows, number(attrs.rpnPreNmsTopN()), number(attrs.rpnPostNmsTopN()),
                                 context.scalar(DType::F64, attrs.threshold())}));
  BATON_TRY_ASSIGN(const TensorId result, context.cast(chosen, context.resultType()));
  context.become({result});
  return success();
}

using loop::Value;

Result<Value> proposalBoxesElement(ElementContext& context, std::span<const Value> index) {
  const ProposalBoxesAttrs attrs{*context.call().attrs};
  const std::vector<PlainCorners<double>> anchors = anchorsOf(context.call());
  const auto count = static_cast<int64_t>(anchors.size());
  Emitter& emitter = context.emitter();
  const DType type = blendType(context.inputType(0));
  const auto c = [&](double value) { return context.builder().constant(type, value); };
  const Value batch = index[0];
  const Value k = emitter.floorMod(index[1], emitter.number(count));
  const Value place = emitter.floorDiv(index[1], emitter.number(count));
  const Value width = emitter.dim(context.inputDims(0)[3]);
  const Value at[] = {emitter.floorMod(place, width), emitter.floorDiv(place, width)};  // x, y
  const auto read = [&](size_t input, std::initializer_list<Value> where) -> Result<Value> {
    BATON_TRY_ASSIGN(const Value given, context.read(input, where));
    return loop::cast(given, type);
  };
  std::vector<Value> info;
  for (int64_t i = 0; i < 3; ++i) {
    BATON_TRY_ASSIGN(const Value each, read(2, {batch, emitter.number(i)}));
    info.push_back(each);
  }
  const Value stride = c(static_cast<double>(attrs.featureStride()));
  std::vector<Value> corners;
  std::vector<Value> deltas;
  for (size_t i = 0; i < 4; ++i) {
    Value anchor = c(anchors[0][i]);
    for (size_t a = 1; a < anchors.size(); ++a)
      anchor =
          loop::select(loop::equal(k, emitter.number(static_cast<int64_t>(a))), c(anchors[a][i]), anchor);
    corners.push_back(anchor + loop::cast(at[i % 2], type) * stride);
    const Value channel =
        emitter.add(emitter.mul(k, emitter.number(4)), emitter.number(static_cast<int64_t>(i)));
    BATON_TRY_ASSIGN(const Value delta, read(1, {batch, channel, at[1], at[0]}));
    deltas.push_back(delta);
  }
  std::vector<Value> moved(4);
  std::vector<Value> extents;
  for (size_t axis = 0; axis < 2; ++axis) {
    const Value low = corners[axis];
    const Value high = corners[axis + 2];
    if (attrs.iouLoss()) {
      moved[axis] = low + deltas[axis];
      moved[axis + 2] = high + deltas[axis + 2];
    } else {
      const Value extent = high - low + c(1);
      const Value middle = deltas[axis] * extent + (low + c(0.5) * (extent - c(1)));
      const Value reach = c(0.5) * (loop::exp(deltas[axis + 2]) * extent - c(1));
      moved[axis] = middle - reach;
      moved[axis + 2] = middle + reach;
    }
    // The image info is height, width, scale.
    const Value last = info[1 - axis] - c(1);
    for (const size_t i : {axis, axis + 2}) moved[i] = loop::max(loop::min(moved[i], last), c(0));
    extents.push_back(moved[axis + 2] - moved[axis] + c(1));
  }
  BATON_TRY_ASSIGN(Value score, read(0, {batch, emitter.add(k, emitter.number(count)), at[1], at[0]}));
  const Value least = info[2] * c(static_cast<double>(attrs.rpnMinSize()));
  const auto isBehind = [&](size_t axis) {
    return at[axis] >= loop::cast(info[1 - axis] / stride, DType::I64);
  };
  score = loop::select(isBehind(1) | isBehind(0), c(-1), score);
  const Value isSmall = (extents[0] < least) | (extents[1] < least);
  const Value half = least / c(2);
  std::vector<Value> row;
  for (size_t i = 0; i < 4; ++i)
    row.push_back(loop::select(isSmall, i < 2 ? moved[i] - half : moved[i] + half, moved[i]));
  row.push_back(loop::select(isSmall, c(-1), score));
  Value result = row[0];
  for (size_t i = 1; i < 5; ++i)
    result = loop::select(loop::equal(index[2], emitter.number(static_cast<int64_t>(i))), row[i], result);
  return loop::cast(result, context.wantedType());
}

namespace {

/// IEEE 754-2019 minimum and maximum with a number.
template <class T>
T within(T value, T low, T high) {
  if (std::isnan(value) || std::isnan(high)) return std::numeric_limits<T>::quiet_NaN();
  return std::max(std::min(value, high), low);
}

/// Rows of five, each rounded to the type of the data.
template <class T>
std::vector<T> plainProposalBoxes(const ReferenceCall& call) {
  const bool isIou = call.call.attrs->boolOf("iou_loss");
  const std::vector<PlainCorners<double>> anchors = anchorsOf(call.call);
  const auto count = static_cast<int64_t>(anchors.size());
  const auto stride = static_cast<T>(call.call.attrs->intOf("feature_stride"));
  const int64_t height = call.extent(0, 2);
  const int64_t width = call.extent(0, 3);
  const DType type = call.inputs[0].dtype;
  const DType wide = blendType(type);
  std::vector<T> rows;
  const int64_t shape[] = {call.extent(0, 0), height, width, count};
  forEachPosition(shape, [&](std::span<const int64_t> at) {
    const int64_t place[] = {at[2], at[1]};
    const auto anchor = static_cast<size_t>(at[3]);
    const auto load = [&](size_t input, int64_t channel) {
      const int64_t channels = call.extent(input, 1);
      return plainElement<T>(call, input, ((at[0] * channels + channel) * height + at[1]) * width + at[2]);
    };
    const auto info = [&](int64_t i) { return plainElement<T>(call, 2, at[0] * 3 + i); };
    const T least = info(2) * static_cast<T>(call.call.attrs->intOf("rpn_min_size"));
    T row[5];
    T score = load(0, count + at[3]);
    bool isSmall = false;
    for (size_t axis = 0; axis < 2; ++axis) {
      const T low = static_cast<T>(anchors[anchor][axis]) + static_cast<T>(place[axis]) * stride;
      const T high = static_cast<T>(anchors[anchor][axis + 2]) + static_cast<T>(place[axis]) * stride;
      const auto delta = [&](size_t i) { return load(1, 4 * at[3] + static_cast<int64_t>(i)); };
      T from = low + delta(axis);
      T to = high + delta(axis + 2);
      if (!isIou) {
        const T extent = high - low + 1;
        const T middle = delta(axis) * extent + (low + T{0.5} * (extent - 1));
        const T reach = T{0.5} * (math::exp(delta(axis + 2)) * extent - 1);
        from = middle - reach;
        to = middle + reach;
      }
      const T size = info(axis == 0 ? 1 : 0);
      row[axis] = within<T>(from, 0, size - 1);
      row[axis + 2] = within<T>(to, 0, size - 1);
      isSmall = isSmall || row[axis + 2] - row[axis] + 1 < least;
      const auto last = static_cast<int64_t>(convertScalar(scalarBits(size / stride), wide, DType::I64));
      if (place[axis] >= last) score = -1;
    }
    for (size_t i = 0; i < 4 && isSmall; ++i) row[i] += i < 2 ? -(least / 2) : least / 2;
    row[4] = isSmall ? -1 : score;
    for (const T value : row)
      rows.push_back(
          scalarFromBits<T>(convertScalar(convertScalar(scalarBits(value), wide, type), type, wide)));
  });
  return rows;
}

template <class T>
T plainPixelsOverlap(const T* a, const T* b) {
  T shared = 1;
  T areaA = 1;
  T areaB = 1;
  for (const size_t axis : {0, 1}) {
    shared *= plainGreater(T{0}, plainLesser(a[axis + 2], b[axis + 2]) - plainGreater(a[axis], b[axis]) + 1);
    areaA *= a[axis + 2] - a[axis] + 1;
    areaB *= b[axis + 2] - b[axis] + 1;
  }
  return shared / (areaA + areaB - shared);
}

/// `rows` are those of all batches.
template <class T>
void plainProposals(const ReferenceCall& call, const std::vector<T>& rows, size_t batches, int64_t considered,
                    int64_t wanted, double threshold) {
  const size_t boxes = batches == 0 ? 0 : rows.size() / 5 / batches;
  for (size_t batch = 0; batch < batches; ++batch) {
    const T* own = rows.data() + batch * boxes * 5;
    std::vector<T> scores;
    for (size_t box = 0; box < boxes; ++box) scores.push_back(own[box * 5 + 4]);
    std::vector<size_t> order = plainByScore(scores);
    if (considered > 0 && considered < static_cast<int64_t>(boxes))
      order.resize(static_cast<size_t>(considered));
    std::vector<size_t> chosen;
    for (const size_t box : order) {
      const bool stays = std::ranges::none_of(chosen, [&](size_t better) {
        return static_cast<double>(plainPixelsOverlap(own + better * 5, own + box * 5)) > threshold;
      });
      if (stays) chosen.push_back(box);
    }
    for (int64_t i = 0; i < wanted && !chosen.empty(); ++i) {
      const int64_t at = (static_cast<int64_t>(batch) * wanted + i) * 5;
      const T* box = own + chosen[static_cast<size_t>(i) % chosen.size()] * 5;
      plainStore(call, 0, at, static_cast<T>(batch));
      for (int64_t c = 0; c < 4; ++c) plainStore(call, 0, at + 1 + c, box[c]);
    }
  }
}

template <class T>
void plainProposalRows(ReferenceCall& call) {
  const std::vector<T> rows = plainProposalBoxes<T>(call);
  for (size_t i = 0; i < rows.size(); ++i) plainStore(call, 0, static_cast<int64_t>(i), rows[i]);
}
template <class T>
void plainProposal(ReferenceCall& call) {
  const ProposalAttrs attrs{*call.call.attrs};
  plainProposals(call, plainProposalBoxes<T>(call), static_cast<size_t>(call.extent(0, 0)),
                 attrs.rpnPreNmsTopN(), attrs.rpnPostNmsTopN(), attrs.threshold());
}
template <class T>
void plainLibraryProposal(ReferenceCall& call) {
  std::vector<T> rows;
  for (int64_t i = 0; i < elementCount(call.inputs[0].shape); ++i)
    rows.push_back(plainElement<T>(call, 0, i));
  plainProposals(call, rows, static_cast<size_t>(call.extent(0, 0)), static_cast<int64_t>(call.load(1, 0)),
                 static_cast<int64_t>(call.load(2, 0)), plainElement<double>(call, 3, 0));
}

bool isWide(const ReferenceCall& call) { return call.inputs[0].dtype == DType::F64; }

}  // namespace

Result<void> proposalBoxesReference(ReferenceCall& call) {
  isWide(call) ? plainProposalRows<double>(call) : plainProposalRows<float>(call);
  return success();
}
Result<void> proposalReference(ReferenceCall& call) {
  isWide(call) ? plainProposal<double>(call) : plainProposal<float>(call);
  return success();
}
Result<void> libraryProposalReference(ReferenceCall& call) {
  isWide(call) ? plainLibraryProposal<double>(call) : plainLibraryProposal<float>(call);
  return success();
}

}  // namespace baton::ops

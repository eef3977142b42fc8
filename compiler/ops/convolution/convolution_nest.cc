// The loops of a convolution.
#include <algorithm>

#include "compiler/ops/convolution/convolution.h"
#include "compiler/ops/declarations.h"
#include "compiler/ops/lowering/loop_nest.h"
#include "compiler/ops/lowering/lowering.h"
#include "compiler/ops/lowering/product_nest.h"
#include "compiler/ops/reference_call.h"

namespace baton::ops {

namespace {

using loop::LoopKind;
using loop::Value;

/// With fewer channels in a group of the result, a product would have columns for nothing.
constexpr int64_t kFewOutputs = 8;

/// Columns of the tiles of a product, or a multiple of them.
constexpr int64_t kWholeTile = 16;

class ConvolutionWriter {
 public:
  ConvolutionWriter(NestContext& context, const Convolution& convolution)
      : context_(context),
        c_(convolution),
        extents_(convolutionExtents(context.call(), convolution, context.inputDims(0), context.inputDims(1),
                                    context.resultDims())),
        e_(context.emitter()),
        b_(context.builder()),
        type_(accumulationType(context.resultType())) {}

  Result<void> run() {
    const bool isPadded =
        std::ranges::any_of(c_.axes, [](const WindowAxis& axis) { return axis.isPadded(); });
    if (isPadded || c_.isTransposed) BATON_TRY(prepare());
    const std::optional<int64_t> outputs = extents_.outputs.asConstant();
    if (outputs && *outputs < kFewOutputs) return direct();
    return placesAreColumns() ? productOfChannels() : product();
  }

 private:
  /// Somewhere in the data or the result: channels are counted through all groups.
  struct Point {
    Value batch;
    Value channel;
    std::vector<Value> spatial;
  };

  std::function<Value(char)> byLetter(const Point& point) const {
    return [this, &point](char name) {
      if (const std::optional<size_t> axis = c_.axisNamed(name)) return point.spatial[*axis];
      return name == 'N' ? point.batch : point.channel;
    };
  }

  //===-- Data with its padding ---------------------------------------------===//

  /// Letters of the axes of the prepared data: channels stand before the last spatial axis, or last as
  /// in the data, so that a row of the window and all channels of it are near.
  std::string preparedAxes() const {
    std::string axes = "N";
    for (const WindowAxis& axis : c_.axes) axes += axis.name;
    if (c_.data.back().name == 'C' && c_.data.back().block == 0) return axes + 'C';
    axes.insert(axes.end() - 1, 'C');
    return axes;
  }

  /// How far before the data the prepared data begins.
  DimExpr lead(size_t axis) const {
    const DimExpr before = DimExpr::constant(c_.axes[axis].before);
    return c_.isTransposed ? windowSpan(extents_.window[axis], c_.axes[axis]) - one() - before : before;
  }
  DimExpr preparedExtent(char name) const {
    const std::optional<size_t> axis = c_.axisNamed(name);
    if (!axis) return name == 'N' ? extents_.batch : wholeExtent(c_.data, context_.inputDims(0), 'C');
    const WindowAxis& window = c_.axes[*axis];
    if (c_.isTransposed) return extents_.places[*axis] + windowSpan(extents_.window[*axis], window) - one();
    return extents_.data[*axis] + DimExpr::constant(window.before) + DimExpr::constant(window.after);
  }

  /// Copies the data to where zeros are around it, and for a transposed convolution between its elements.
  Result<void> prepare() {
    const std::string axes = preparedAxes();
    std::vector<DimExpr> extents;
    for (const char name : axes) extents.push_back(preparedExtent(name));
    // Nobody reads it when there is no result, and it may be as large as it likes then.
    std::vector<DimExpr> served;
    for (const DimExpr& extent : context_.resultDims())
      if (extent.asConstant().value_or(0) < 1) served.push_back(extent);
    std::vector<DimExpr> own;
    for (const DimExpr& extent : extents) own.push_back(e_.toKernelSymbols(extent));
    for (const DimExpr& extent : served) own[0] = own[0] * min(e_.toKernelSymbols(extent), one());
    prepared_ = b_.scratch(context_.inputType(0), std::move(own));
    return forEachIndex(
        e_, extents, {.prefixes = {}, .served = served}, [&](std::span<const Value> index) -> Result<void> {
          const DType type = context_.inputType(0);
          std::optional<Value> isThere;
          const auto require = [&](Value condition) { isThere = isThere ? *isThere & condition : condition; };
          Point point;
          point.spatial.resize(c_.rank());
          for (size_t i = 0; i < axes.size(); ++i) {
            const std::optional<size_t> axis = c_.axisNamed(axes[i]);
            if (!axis) {
              (axes[i] == 'N' ? point.batch : point.channel) = index[i];
              continue;
            }
            Value at = e_.sub(index[i], e_.dim(lead(*axis)));
            if (c_.isTransposed || c_.axes[*axis].isPadded()) {
              const Value stride = e_.number(c_.isTransposed ? c_.axes[*axis].stride : 1);
              if (e_.constantOf(stride) != 1) require(loop::equal(e_.floorMod(at, stride), e_.number(0)));
              at = e_.floorDiv(at, stride);
              require(at >= e_.number(0));
              require(at < e_.dim(extents_.data[*axis]));
            }
            point.spatial[*axis] = at;
          }
          if (!isThere) {
            BATON_TRY_ASSIGN(const Value value, context_.read(0, indexIn(e_, c_.data, byLetter(point))));
            b_.store(*prepared_, index, value);
            return success();
          }
          const loop::LocalIndex element = b_.local(type);
          b_.set(element, b_.constant(type, 0));
          e_.beginIf(*isThere);
          BATON_TRY_ASSIGN(const Value value, context_.read(0, indexIn(e_, c_.data, byLetter(point))));
          b_.set(element, value);
          e_.end();
          b_.store(*prepared_, index, b_.get(element));
          return success();
        });
  }

  //===-- Elements ----------------------------------------------------------===//

  /// What the window has under its element k where it stands at a place of the result.
  Result<Value> data(const Point& place, Value channel, std::span<const Value> k) {
    Point at{place.batch, channel, {}};
    for (size_t i = 0; i < c_.rank(); ++i) {
      const Value stride = e_.number(c_.isTransposed ? 1 : c_.axes[i].stride);
      at.spatial.push_back(
          e_.add(e_.mul(place.spatial[i], stride), e_.mul(k[i], e_.number(c_.axes[i].dilation))));
    }
    if (!prepared_) return context_.read(0, indexIn(e_, c_.data, byLetter(at)));
    std::vector<Value> index;
    for (const char name : preparedAxes()) index.push_back(byLetter(at)(name));
    return e_.at(e_.guarded(index), [&] { return b_.load(*prepared_, index); });
  }

  /// The element of the weight that goes with channels of a group and element k of the window.
  /// `panel` says where the channel of the result stands in blocks of kPanelColumns, if that is known.
  Result<Value> weight(Value group, Value input, Value output, std::span<const Value> k,
                       const PanelPosition* panel) {
    const auto whole = [&](char name) {
      if (const std::optional<size_t> axis = c_.axisNamed(name))
        return c_.isTransposed ? e_.sub(e_.dim(extents_.window[*axis] - one()), k[*axis]) : k[*axis];
      if ((name == 'O') == c_.isTransposed) return name == 'O' ? output : input;
      const DimExpr& count = name == 'O' ? extents_.outputs : extents_.inputs;
      return e_.add(e_.mul(group, e_.dim(count)), name == 'O' ? output : input);
    };
    std::vector<Value> index = indexIn(e_, c_.weight, whole);
    if (panel != nullptr && isInPanels()) {
      index[placeIn(c_.weight, {'O', 0})] = panel->panel;
      index[placeIn(c_.weight, {'O', 1})] = panel->inPanel;
    }
    return context_.read(1, index);
  }
  bool isInPanels() const { return c_.groups == 1 && blockOf(c_.weight, 'O') == kPanelColumns; }

  //===-- Loops -------------------------------------------------------------===//

  /// Rows are places, columns channels of the result. Where extents are known all places are rows of one
  /// product, else those along the last axis are: no division has to find out where one is.
  Result<void> product() {
    std::vector<DimExpr> places = {extents_.batch};
    places.insert(places.end(), extents_.places.begin(), extents_.places.end());
    const bool areKnown = std::all_of(places.begin() + 1, places.end(),
                                      [](const DimExpr& extent) { return extent.isConstant(); });
    const size_t apart = areKnown ? 0 : places.size() - 1;  // of the places, axes of the batch
    const std::vector<DimExpr> rows(places.begin() + static_cast<std::ptrdiff_t>(apart), places.end());
    ProductSpec spec;
    spec.batch = {DimExpr::constant(c_.groups)};
    spec.batch.insert(spec.batch.end(), places.begin(), places.begin() + static_cast<std::ptrdiff_t>(apart));
    spec.batchOfRight = 1;
    spec.rows = ops::product(rows);
    spec.columns = extents_.outputs;
    spec.inner = {extents_.inputs};
    spec.inner.insert(spec.inner.end(), extents_.window.begin(), extents_.window.end());
    // Else a row of the window and the places beside it are read in turn.
    spec.isLeftScattered =
        c_.data.back().name != 'C' &&
        std::ranges::all_of(extents_.window, [](const DimExpr& extent) { return extent.asConstant() == 1; });
    const bool isLast = c_.weight.back().name == 'O';
    spec.layout = isLast && isInPanels()                  ? RightLayout::Padded
                  : isLast && c_.weight.back().block == 0 ? RightLayout::Rows
                                                          : RightLayout::Strided;
    const auto placeOf = [this, rows](std::span<const Value> batch, Value row) {
      std::vector<Value> index(batch.begin() + 1, batch.end());
      const std::vector<Value> rest = splitRow(e_, rows, row);
      index.insert(index.end(), rest.begin(), rest.end());
      return Point{index[0], e_.number(0), {index.begin() + 1, index.end()}};
    };
    const auto channelOf = [this](Value group, Value own, const DimExpr& count) {
      return e_.add(e_.mul(group, e_.dim(count)), own);
    };
    spec.left = [this, placeOf, channelOf](std::span<const Value> batch, Value row,
                                           std::span<const Value> inner) {
      return data(placeOf(batch, row), channelOf(batch[0], inner[0], extents_.inputs), inner.subspan(1));
    };
    spec.right = [this](const PanelPosition& at) {
      return weight(at.batch[0], at.inner[0], at.column, at.inner.subspan(1), &at);
    };
    spec.index = [this, placeOf, channelOf](std::span<const Value> batch, Value row, Value column) {
      Point place = placeOf(batch, row);
      place.channel = channelOf(batch[0], column, extents_.outputs);
      return indexIn(e_, c_.result, byLetter(place));
    };
    return writeProduct(context_, std::move(spec));
  }

  /// Whether the places of an image can be the columns of a product: a window of one element that goes from
  /// element to element meets the data as it lies in memory. Tiles of columns have to be whole.
  bool placesAreColumns() const {
    if (prepared_) return false;
    for (size_t i = 0; i < c_.rank(); ++i)
      if (extents_.window[i].asConstant() != 1 || c_.axes[i].stride != 1) return false;
    for (const Layout* layout : {&c_.data, &c_.result})
      for (size_t i = 0; i < c_.rank(); ++i)
        if ((*layout)[layout->size() - c_.rank() + i].name != c_.axes[i].name) return false;
    const std::optional<int64_t> count = ops::product(extents_.places).asConstant();
    const bool areKnown =
        std::ranges::all_of(extents_.places, [](const DimExpr& extent) { return extent.isConstant(); });
    return areKnown && *count % kWholeTile == 0;
  }

  /// Rows are channels of the result, columns the places of an image.
  Result<void> productOfChannels() {
    ProductSpec spec;
    spec.batch = {extents_.batch, DimExpr::constant(c_.groups)};
    spec.rows = extents_.outputs;
    spec.columns = ops::product(extents_.places);
    spec.inner = {extents_.inputs};
    spec.layout = RightLayout::Rows;
    const auto pointOf = [this](std::span<const Value> batch, Value channel, const DimExpr& count,
                                Value column) {
      return Point{batch[0], e_.add(e_.mul(batch[1], e_.dim(count)), channel),
                   splitRow(e_, extents_.places, column)};
    };
    spec.left = [this](std::span<const Value> batch, Value row, std::span<const Value> inner) {
      const std::vector<Value> first(c_.rank(), e_.number(0));
      return weight(batch[1], inner[0], row, first, nullptr);
    };
    spec.right = [this, pointOf](const PanelPosition& at) {
      const Point point = pointOf(at.batch, at.inner[0], extents_.inputs, at.column);
      return context_.read(0, indexIn(e_, c_.data, byLetter(point)));
    };
    spec.index = [this, pointOf](std::span<const Value> batch, Value row, Value column) {
      return indexIn(e_, c_.result, byLetter(pointOf(batch, row, extents_.outputs, column)));
    };
    return writeProduct(context_, std::move(spec));
  }

  /// One element of the result after the other.
  Result<void> direct() {
    double cost = 8;
    for (const DimExpr& extent : extents_.window)
      cost *= static_cast<double>(extent.asConstant().value_or(3));
    return forEachIndex(
        e_, context_.resultDims(), {.prefixes = {}, .cost = cost},
        [&](std::span<const Value> index) -> Result<void> {
          Point place{positionAlong(e_, c_.result, index, 'N'), positionAlong(e_, c_.result, index, 'C'), {}};
          for (const WindowAxis& axis : c_.axes)
            place.spatial.push_back(positionAlong(e_, c_.result, index, axis.name));
          const Value outputs = e_.number(*extents_.outputs.asConstant());
          const Value group = e_.floorDiv(place.channel, outputs);
          const Value output = e_.floorMod(place.channel, outputs);
          const loop::LocalIndex sum = b_.local(type_);
          b_.set(sum, b_.constant(type_, 0));
          std::vector<Value> counts = {e_.dim(extents_.inputs)};
          for (const DimExpr& extent : extents_.window) counts.push_back(e_.dim(extent));
          std::vector<Value> k;
          for (const Value count : counts) k.push_back(e_.beginLoop(LoopKind::Serial, count));
          const std::span<const Value> step = std::span(k).subspan(1);
          const Value channel = e_.add(e_.mul(group, e_.dim(extents_.inputs)), k[0]);
          BATON_TRY_ASSIGN(const Value x, data(place, channel, step));
          BATON_TRY_ASSIGN(const Value w, weight(group, k[0], output, step, nullptr));
          const Value left = loop::cast(x, type_);
          const Value right = loop::cast(w, type_);
          const Value before = b_.get(sum);
          b_.set(sum, isFloat(type_) ? loop::fma(left, right, before) : before + left * right);
          for (size_t i = 0; i < k.size(); ++i) e_.end();
          return context_.sink(index, loop::cast(b_.get(sum), context_.resultType()));
        });
  }

  NestContext& context_;
  const Convolution& c_;
  const ConvolutionExtents extents_;
  Emitter& e_;
  loop::Builder& b_;
  const DType type_;
  std::optional<loop::BufferIndex> prepared_;
};

}  // namespace

Result<void> convolutionNest(NestContext& context) {
  BATON_TRY_ASSIGN(const Convolution convolution, convolutionOf(context.call()));
  return ConvolutionWriter(context, convolution).run();
}

}  // namespace baton::ops
